#include "region_image.h"

#include <string.h>

#include "gen/contract/instantiate.h"

/* The tensors together, and the work of a call. */
static const double most_bytes = 1 << 20, most_flops = 2e6;

bool region_image_suits(const struct problem *problem, const struct instance *instance)
{
    return instance->flops <= most_flops && instance_total_bytes(problem, instance) <= most_bytes;
}

int region_image_open(struct region_image *image, const struct memory *device, size_t mapped)
{
    if (image->bytes && image->mapped == mapped)
        return 0;
    region_image_close(image, device);
    void *memory = NULL;
    const int error = device->image_take(&memory, mapped);
    if (!error)
        *image = (struct region_image){.bytes = memory, .mapped = mapped};
    return error;
}

void region_image_close(struct region_image *image, const struct memory *device)
{
    if (image->bytes)
        device->image_release(image->bytes);
    *image = (struct region_image){0};
}

void region_image_poison(struct region_image *image, size_t at, size_t bytes, uint32_t word)
{
    const struct memory *const host = memory_of(BACKEND_HOST);
    if (image->clean && image->word == word)
        (void)host->poison(image->bytes + image->at, image->used, word);
    else
        (void)host->poison(image->bytes, image->mapped, word);
    image->at = at;
    image->used = bytes;
    image->word = word;
    image->clean = true;
}

int region_image_send(const struct region_image *image, const struct memory *device, void *region)
{
    return device->send(region, image->bytes, image->mapped);
}

/* The candidate may have written anywhere in the region. */
int region_image_fetch(struct region_image *image, const struct memory *device, const void *region)
{
    image->clean = false;
    return device->fetch(image->bytes, region, image->mapped);
}
