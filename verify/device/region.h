/* Guarded tensor memory: one region per tensor, shared between the judging process and the child process
 * that runs the candidate. The child maps it between unmapped guards, so an access past the end of a flush
 * tensor faults.
 *
 * Host: a memfd, granule = page (4 KiB). CUDA: the virtual memory API, cuMemCreate exported as a POSIX
 * descriptor, granule = the driver's minimum (2 MiB). */
#ifndef UNSEEN_REGION_H
#define UNSEEN_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum backend { BACKEND_HOST, BACKEND_CUDA, BACKENDS };
enum { REGION_ALIGN = 16 }; /* alignment of every tensor, unless a smaller one is specified */
/* Flush against the lower guard, or the upper guard. MIXED: the upper guard for every other tensor; otherwise
 * tensors of the same size would have the same alignment. */
enum placement { PLACE_LOW, PLACE_HIGH, PLACE_MIXED };

struct region {
    enum backend backend;
    size_t bytes; /* of the tensor */
    size_t align; /* alignment of its base: a power of two, at most 16 */
    size_t
        /* whole granules, at least one; large enough that both placements differ by at least REGION_ALIGN */
        mapped;
    int fd;          /* descriptor that the child imports; owned */
    void *base;      /* mapping of this process: host address, or device address (CUdeviceptr) */
    uint64_t handle; /* CUDA: the CUmemGenericAllocationHandle */
    /* in its pool (region_pool.h): processes keep its mapping. 0: it has none */
    uint32_t number;
};

enum { REGION_POOL_MOST = 255 }; /* the largest number */

/* Offset of the tensor's first byte. PLACE_HIGH: the highest multiple of the alignment that fits. PLACE_LOW:
 * 0; for an alignment below 16 exactly that alignment, since the start of a page would be better aligned than
 * promised. */
size_t region_offset(const struct region *region, enum placement placement);

/* The placement of tensor t for PLACE_MIXED; other placements are returned unchanged. */
enum placement region_placement(enum placement placement, int t);

/* Sets the CUDA device (ordinal) of new regions; initially 0. */
void region_set_device(int device);

/* Creates `region` and maps all of it in this process. Host memory is zero and allocated at once, so that a
 * lack of memory is an error, not a later SIGBUS. CUDA: the device's primary context must be current in the
 * calling thread. Returns 0; or -1 with errno (such as ENOMEM) and a sentence in error. */
int region_create(struct region *region, enum backend backend, size_t bytes, size_t align, char *error,
                  size_t error_size);

/* Destroys a region. CUDA: work that uses the region must have ended, since unmapping is not ordered with
 * streams. Device memory is overwritten before it is freed. Host memory needs no overwriting: the kernel
 * clears pages for other processes. Accepts a zeroed or already destroyed region. */
void region_destroy(struct region *region);

#ifdef __cplusplus
}
#endif

#endif
