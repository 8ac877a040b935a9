/* Guarded tensor memory: one region per tensor, shared between the judging process and the child
 * that runs the candidate. The child maps it between unmapped guards, so that a tensor placed
 * flush against an end has nothing beyond it.
 *
 * Host: memfd, granule = the page (4 KiB). CUDA: the virtual memory API, cuMemCreate exported as
 * a POSIX descriptor, granule = what the driver says (2 MiB). */
#ifndef UNSEEN_REGION_H
#define UNSEEN_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum backend { BACKEND_HOST, BACKEND_CUDA };
enum { REGION_ALIGN = 16 }; /* of every tensor, where nothing less is promised */
/* Flush against the lower, the upper guard; the latter for every other tensor: those of the same size are aligned alike else. */
enum placement { PLACE_LOW, PLACE_HIGH, PLACE_MIXED };

struct region {
    enum backend backend;
    size_t bytes; /* of the tensor */
    size_t align; /* of its base: a power of two, at most 16 */
    size_t
        mapped; /* whole granules, at least one, so many that the placements differ by REGION_ALIGN or more */
    int fd;     /* what the child imports; owned */
    void *base; /* this process's mapping: host address, or device address (CUdeviceptr) */
    uint64_t handle; /* CUDA: the CUmemGenericAllocationHandle */
};

/* Offset of the tensor's first byte. High: the highest multiple of the alignment that still fits. Low: 0, or where less
 * than 16 bytes are promised exactly that, since a page's start would be better aligned than anybody may count on. */
size_t region_offset(const struct region *region, enum placement placement);

/* Of PLACE_MIXED what tensor number t gets; the others are what they are. */
enum placement region_placement(enum placement placement, int t);

/* The CUDA device (ordinal) on which regions are created from now on; 0 until told. */
void region_set_device(int device);

/* Make `region` and map it whole in this process. The host's memory is allocated here and now,
 * so that a lack of it is an error and not a SIGBUS later; it is zero. CUDA: the primary context
 * of the device must be current in the calling thread.
 * Returns 0; -1 with errno ENOMEM (or another) and a sentence in error. */
int region_create(struct region *region, enum backend backend, size_t bytes, size_t align, char *error,
                  size_t error_size);

/* CUDA: work that still uses the region must have ended (unmapping is not ordered with streams); its memory is
 * overwritten before it goes back. The host's is never another process's: the kernel hands out cleared pages.
 * A zeroed or an already destroyed region is fine. */
void region_destroy(struct region *region);

#ifdef __cplusplus
}
#endif

#endif
