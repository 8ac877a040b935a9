/* Mapping the judge's memory into the candidate's process. */
#include "child_internal.h"

/* Mapping is the runner's own work; if it takes longer, the runner hangs. */
#define MAP_TIMEOUT 60.0

static void tell_lent(struct child *child)
{
    double bytes = child->kept;
    for (int set = 0; set < CHANNEL_SETS; set++)
        bytes += child->lent[set];
    child_watch_lent(child, bytes);
}

enum child_status child_map(struct child *child, int set, int slot, const struct region *region, char *text,
                            size_t text_size)
{
    const struct channel_tensor nothing = {.size = 0};
    return child_map_tensor(child, set, slot, region, &nothing, text, text_size);
}

enum child_status child_map_coverage(struct child *child, const struct region *region, char *text,
                                     size_t text_size)
{
    struct request request = {
        .kind = REQUEST_MAP, .set = CHANNEL_SETS - 1, .coverage = 1, .mapped = region->mapped};
    struct reply reply;
    child->lent[CHANNEL_SETS - 1] += (double)region->mapped;
    tell_lent(child);
    child_arena_permit(child, request.set * CHANNEL_TENSORS, request.mapped);
    const enum child_status status =
        child_exchange(child, &request, region->fd, MAP_TIMEOUT, &reply, text, text_size);
    child_arena_permit(child, 0, 0);
    return status;
}

enum child_status child_map_tensor(struct child *child, int set, int slot, const struct region *region,
                                   const struct channel_tensor *tensor, char *text, size_t text_size)
{
    struct request request = {.kind = REQUEST_MAP,
                              .set = (uint32_t)set,
                              .slot = (uint32_t)slot,
                              .region = region->number,
                              .mapped = region->mapped,
                              .tensor = *tensor};
    struct reply reply;
    const bool again = child->keeps[region->number]; /* never for number 0 */
    if (!again)
        *(region->number ? &child->kept : &child->lent[set]) += (double)region->mapped;
    tell_lent(child);
    child_arena_permit(child, request.set * CHANNEL_TENSORS + request.slot, request.mapped);
    const enum child_status status =
        child_exchange(child, &request, again ? -1 : region->fd, MAP_TIMEOUT, &reply, text, text_size);
    child_arena_permit(child, 0, 0);
    child->keeps[region->number] = region->number > 0 && status == CHILD_OK;
    return status;
}

static enum child_status unmap(struct child *child, int set, bool keep, char *text, size_t text_size)
{
    struct request request = {.kind = REQUEST_UNMAP, .set = (uint32_t)set, .keep = keep};
    struct reply reply;
    const enum child_status status =
        child_exchange(child, &request, -1, MAP_TIMEOUT, &reply, text, text_size);
    for (int i = 0; i < CHANNEL_SETS; i++)
        if (set == i || set == CHANNEL_EVERY_SET)
            child->lent[i] = 0;
    tell_lent(child);
    return status;
}

enum child_status child_unmap(struct child *child, int set, char *text, size_t text_size)
{
    return unmap(child, set, false, text, text_size);
}

enum child_status child_unmap_and_keep(struct child *child, int set, char *text, size_t text_size)
{
    return unmap(child, set, true, text, text_size);
}
