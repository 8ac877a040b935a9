/* The bytes of a GPU region in main memory.
 *
 * Contexts of a GPU take turns, and each kernel, fill and small copy waits for the turns of all others.
 * Beside seven others on one H200, an empty kernel takes 1.1 ms; alone it takes 9 us. A copy of a whole
 * region waits for no turn, since a copy engine does it. So a small configuration is filled and judged in
 * main memory. Its regions are copied before and after each call. */
#ifndef UNSEEN_REGION_IMAGE_H
#define UNSEEN_REGION_IMAGE_H

#include "problems/problem.h"
#include "verify/device/memory.h"

struct region_image {
    unsigned char *bytes; /* pinned; NULL: not yet allocated */
    size_t mapped;        /* bytes of the region */
    size_t at, used;      /* the tensor in it */
    uint32_t word;        /* the poison around the tensor */
    bool clean;           /* everything around the tensor holds the poison */
};

/* Is the configuration small enough? A tensor then fits into the smallest region of a GPU, and a core judges
 * a call in a few milliseconds. */
bool region_image_suits(const struct problem *problem, const struct instance *instance);

/* Allocates an image of `mapped` bytes, or keeps one of this size. Returns 0 or an error of `device`. */
int region_image_open(struct region_image *image, const struct memory *device, size_t mapped);
void region_image_close(struct region_image *image, const struct memory *device);

/* Poisons the image, for a tensor of `bytes` bytes at offset `at`. */
void region_image_poison(struct region_image *image, size_t at, size_t bytes, uint32_t word);

/* Begins to copy the image to its region. Returns 0 or an error of `device`. */
int region_image_send(const struct region_image *image, const struct memory *device, void *region);
/* Begins to copy the region to its image. Returns 0 or an error of `device`. */
int region_image_fetch(struct region_image *image, const struct memory *device, const void *region);

#endif
