/* A configuration's tensors: allocation, filling, placement against one guard or the other, and
 * inspection. */
#include <stdio.h>
#include <string.h>

#include "gen/contract/instantiate.h"
#include "gen/random/mix.h"
#include "buffers.h"
#include "verify/util/defence.h"
#include "verify/device/fingerprint.h"

/* Is a tensor drawn? */
static bool is_drawn(const struct buffers *b, int t)
{
    return b->problem->tensors[t].role != TENSOR_OUTPUT;
}

void *slot_content(const struct slot *slot)
{
    return slot->given ? slot->given : slot->own ? slot->own : slot->got;
}

/* Bytes for the regions, the judge's inputs, and two snapshots of the outputs. The judge's other needs are
 * small. */
static double footprint(const struct problem *problem, const struct instance *instance, int rings,
                        bool turned)
{
    double bytes = 0;
    for (int t = 0; problem->tensors[t].name; t++) {
        const double tensor =
            (double)dtype_bytes(problem->tensors[t].dtype, instance_tensor_span(&instance->tensor[t]));
        const enum tensor_role role = problem->tensors[t].role;
        bytes += tensor * (rings + (1 + turned) * (role != TENSOR_OUTPUT) + 2 * (role != TENSOR_INPUT));
    }
    return bytes;
}

/* Does the configuration fit beside the memory of other workers? */
static bool fits(const struct buffers *b, const struct instance *instance, int rings, bool turned, char *why,
                 size_t why_size)
{
    const double need = footprint(b->problem, instance, rings, turned) + (double)((size_t)64 << 20);
    const double available = (double)b->memory->available() * 0.9 / b->workers;
    if (need <= available)
        return true;
    snprintf(why, why_size, "needs %.1f GB of %s memory with the judge's copies; %.1f GB can be had",
             need / 1e9, b->device->backend == BACKEND_CUDA ? "GPU" : "main", available / 1e9);
    return false;
}

static int create_copies(struct buffers *b, int t, bool turned, char *why, size_t why_size)
{
    const struct memory *const memory = buffers_memory(b);
    struct slot *slot = &b->now->slot[t];
    int error = is_drawn(b, t) ? memory->take(&slot->own, slot->bytes) : 0;
    if (!error && turned && is_drawn(b, t))
        error = memory->take(&slot->given, slot->bytes);
    if (!error && buffers_are_written(b, t))
        error = memory->take(&slot->got, slot->bytes);
    if (!error && buffers_are_written(b, t))
        error = memory->take(&slot->before, slot->bytes);
    if (error)
        snprintf(why, why_size, "no memory for the judge's copy of %s: %s", b->problem->tensors[t].name,
                 memory->explain(error));
    return error ? -1 : 0;
}

static int create_image(struct buffers *b, int t, char *why, size_t why_size)
{
    const int error =
        b->now->on_host ? region_image_open(&b->image[t], b->memory, b->now->slot[t].region[0].mapped) : 0;
    if (error)
        snprintf(why, why_size, "no pinned memory for the image of %s: %s", b->problem->tensors[t].name,
                 b->memory->explain(error));
    return error ? -1 : 0;
}

/* Describes a tensor for a candidate that gets tensors. It gets packed elements as bytes. */
static void describe(const struct tensor *known, const struct instance_tensor *tensor,
                     struct channel_tensor *out)
{
    const int64_t packed = dtype_packed(known->dtype);
    *out = (struct channel_tensor){.dtype = known->dtype,
                                   .role = known->role,
                                   .rank = (uint32_t)tensor->rank,
                                   .size = (uint32_t)dtype_bytes(known->dtype, packed),
                                   .pitch = instance_tensor_pitch(tensor) / packed};
    snprintf(out->name, sizeof out->name, "%.*s", CHANNEL_NAME - 1, known->name);
    memcpy(out->dim, tensor->dim, sizeof out->dim);
    if (tensor->rank > 0)
        out->dim[tensor->rank - 1] /= packed;
}

int buffers_create(struct buffers *b, const struct instance *instance, int rings, bool turned, char *why,
                   size_t why_size)
{
    const struct problem *problem = b->problem;
    if (!fits(b, instance, rings, turned, why, why_size))
        return -1;
    b->now->rings = rings;
    b->now->on_host = b->small_on_host && b->device->backend == BACKEND_CUDA && rings == 1 && !turned &&
                      region_image_suits(problem, instance);
    for (int t = 0; t < b->tensors; t++) {
        struct slot *slot = &b->now->slot[t];
        const enum dtype dtype = problem->tensors[t].dtype;
        const struct instance_tensor *tensor = &instance->tensor[t];
        const size_t align = tensor->align ? (size_t)tensor->align : REGION_ALIGN;
        slot->bytes = (size_t)dtype_bytes(dtype, instance_tensor_span(tensor));
        slot->row = (size_t)dtype_bytes(dtype, instance_tensor_width(tensor));
        slot->pitch = (size_t)dtype_bytes(dtype, instance_tensor_pitch(tensor));
        describe(&problem->tensors[t], tensor, &slot->tensor);
        slot->poison = defence_is_on(DEFENCE_POISON) ? dtype_row(dtype)->poison : 0;
        for (int ring = 0; ring < rings; ring++)
            if (region_pool_take(&b->pool, &slot->region[ring], b->device->backend, slot->bytes, align, why,
                                 why_size) != 0) {
                slot->region[ring].fd = -1;
                return -1;
            }
        if (create_copies(b, t, turned, why, why_size) != 0 || create_image(b, t, why, why_size) != 0)
            return -1;
    }
    return 0;
}

static void clear(struct setup *setup)
{
    const int first_set = setup->first_set;
    memset(setup, 0, sizeof *setup);
    setup->first_set = first_set;
    for (int t = 0; t < PROBLEM_MAX_TENSORS; t++)
        for (int ring = 0; ring < BUFFERS_RING; ring++)
            setup->slot[t].region[ring].fd = -1;
}

void buffers_destroy(struct buffers *b)
{
    const struct memory *const memory = buffers_memory(b);
    for (int t = 0; t < b->tensors; t++) {
        struct slot *slot = &b->now->slot[t];
        void *const copy[] = {slot->own, slot->given, slot->got, slot->before};
        for (int i = 0; i < 4; i++)
            if (copy[i])
                memory->release(copy[i]);
        for (int ring = 0; ring < BUFFERS_RING; ring++)
            region_pool_give(&b->pool, &slot->region[ring]);
    }
    clear(b->now);
}

void buffers_open(struct buffers *b)
{
    b->memory = memory_of(b->device->backend);
    b->tensors = problem_tensor_count(b->problem);
    for (int i = 0; i < BUFFERS_SETUPS; i++) {
        clear(&b->setup[i]);
        b->setup[i].first_set = i * BUFFERS_RING;
    }
    b->now = b->setup;
}

void buffers_close(struct buffers *b)
{
    for (int i = 0; i < BUFFERS_SETUPS; i++) {
        b->now = &b->setup[i];
        buffers_destroy(b);
    }
    for (int t = 0; t < b->tensors; t++)
        region_image_close(&b->image[t], b->memory);
    region_pool_close(&b->pool);
}

bool buffers_are_state(const struct buffers *b, int t)
{
    const char *const name = b->problem->tensors[t].name;
    const size_t length = strlen(name);
    for (const char *p = b->state ? strstr(b->state, name) : NULL; p; p = strstr(p + 1, name))
        if ((p == b->state || p[-1] == ' ') && (p[length] == ' ' || p[length] == '\0'))
            return true;
    return false;
}

/* The filler of undefined storage (value_garbage). Written tensors always use the poison. */
static uint32_t filler_of(const struct buffers *b, int t, uint64_t seed, int content)
{
    const enum dtype dtype = b->problem->tensors[t].dtype;
    const bool varies = content % 2 != 0 && !buffers_are_written(b, t);
    if (!defence_is_on(DEFENCE_POISON))
        return 0;
    return memory_filler(dtype, !varies ? FILLER_NAN : mix64(seed) % 2 ? FILLER_HIGH : FILLER_LOW);
}

bool buffers_fill(struct buffers *b, const struct config *config, const struct instance *instance,
                  int content)
{
    const struct memory *const memory = buffers_memory(b);
    for (int t = 0; t < b->tensors; t++) {
        struct slot *slot = &b->now->slot[t];
        int error = 0;
        if (!is_drawn(b, t) || (b->now->constant && buffers_are_state(b, t)))
            continue;
        slot->poison = filler_of(b, t, config->seed, content);
        if (slot->pitch > slot->row)
            error = memory->poison(slot->own, slot->bytes, slot->poison);
        if (!error)
            error = memory->fill(b->problem, instance, t, config->seed, content, slot->own);
        if (error)
            return status_failed(b->status, "filling the inputs", error);
    }
    return true;
}

/* Copies `own` to `to`, rotated to begin at element `turn`, with the near duplicate's element. */
static int put_content(const struct buffers *b, int t, const struct content *content, void *to)
{
    const struct memory *const memory = buffers_memory(b);
    const struct slot *slot = &b->now->slot[t];
    const size_t turn = content ? (size_t)dtype_bytes(b->problem->tensors[t].dtype, content->turn[t]) : 0;
    int error = memory->copy(to, (char *)slot->own + turn, slot->bytes - turn);
    if (!error && turn > 0)
        error = memory->copy((char *)to + slot->bytes - turn, slot->own, turn);
    if (!error && content && content->near.present && content->near.tensor == t)
        error = content_put_near(memory, b->problem, &content->near, to);
    return error;
}

bool buffers_give(struct buffers *b, const struct content *content)
{
    int error = 0;
    for (int t = 0; t < b->tensors && !error; t++)
        if (b->now->slot[t].given)
            error = put_content(b, t, content, b->now->slot[t].given);
        else if (content->near.present && content->near.tensor == t)
            error = content_put_near(buffers_memory(b), b->problem, &content->near, b->now->slot[t].own);
    return !error || status_failed(b->status, "repeating a content", error);
}

/* Reads a stretch of the tensor to choose a value, and the element to replace. */
bool buffers_choose_near(struct buffers *b, const struct instance *instance, struct pcg *random,
                         struct content *content)
{
    enum { STRETCH = 2048 };
    struct near *near = &content->near;
    unsigned char stretch[8 * STRETCH];
    content_choose_near(b->problem, instance, random, near);
    if (!near->present)
        return true;
    near->present = !buffers_are_state(b, near->tensor);
    if (!near->present)
        return true;
    const struct slot *slot = &b->now->slot[near->tensor];
    const enum dtype dtype = b->problem->tensors[near->tensor].dtype;
    const int64_t all = (int64_t)slot->bytes * 8 / dtype_row(dtype)->bits, packed = dtype_packed(dtype);
    const int64_t count = all < STRETCH ? all : STRETCH;
    const int64_t from = (int64_t)pcg_below(random, (uint64_t)(all - count + 1)) / packed * packed;
    const int64_t was = (near->place + content->turn[near->tensor]) % all;
    const struct memory *const memory = buffers_memory(b);
    int error = memory->to_host(stretch, slot->own, dtype_bytes(dtype, from), dtype_bytes(dtype, count));
    if (!error)
        error = memory->to_host(near->was, slot->own, dtype_bytes(dtype, was / packed * packed),
                                dtype_bytes(dtype, packed));
    dtype_copy(dtype, near->was, 0, near->was, was % packed);
    const struct instance_tensor *const tensor = &instance->tensor[near->tensor];
    const enum near_kind kind = (enum near_kind)pcg_below(random, NEAR_KINDS);
    dtype_copy(dtype, near->value, 0, near->was, 0);
    near->present = content_alter(&tensor->fill, dtype, kind, near->value) ||
                    content_greatest(tensor, dtype, stretch, from, count, near->value);
    near->present = near->present && !dtype_same(dtype, near->value, 0, near->was, 0);
    return !error || status_failed(b->status, "choosing a near duplicate", error);
}

/* Poisons everything but the place of a drawn tensor. */
static int poison_region(struct buffers *b, int t, int ring, size_t at)
{
    const struct slot *slot = &b->now->slot[t];
    const size_t mapped = slot->region[ring].mapped, after = at + slot->bytes;
    char *const base = buffers_region(b, t, ring);
    if (b->now->on_host) {
        region_image_poison(&b->image[t], at, slot->bytes, slot->poison);
        return 0;
    }
    if (!is_drawn(b, t))
        return b->memory->poison(base, mapped, slot->poison);
    const int error = b->memory->poison(base, at, slot->poison);
    return error ? error : b->memory->poison(base + after, mapped - after, slot->poison);
}

/* Makes the regions what their images are, or the images what their regions are. */
static int copy_images(struct buffers *b, bool fetch)
{
    int error = 0;
    for (int t = 0; t < b->tensors && !error; t++) {
        void *const region = b->now->slot[t].region[0].base;
        error = fetch ? region_image_fetch(&b->image[t], b->memory, region)
                      : region_image_send(&b->image[t], b->memory, region);
    }
    return error ? error : b->memory->finish();
}

/* Poisons everything, then copies the drawn values. */
bool buffers_place(struct buffers *b, int ring, enum placement placement, const struct content *content,
                   struct call *call)
{
    call->set = b->now->first_set + ring;
    call->tensors = b->tensors;
    call->flush_bytes = 2 * (uint64_t)b->device->l2_bytes;
    for (int t = 0; t < b->tensors; t++) {
        call->offset[t] = region_offset(&b->now->slot[t].region[ring], region_placement(placement, t));
        int error = poison_region(b, t, ring, call->offset[t]);
        if (!error && is_drawn(b, t))
            error = put_content(b, t, content, buffers_region(b, t, ring) + call->offset[t]);
        if (error)
            return status_failed(b->status, "placing a tensor", error);
    }
    const int error = b->now->on_host ? copy_images(b, false) : b->memory->finish();
    return !error || status_failed(b->status, "placing the tensors", error);
}

char *buffers_region(const struct buffers *b, int t, int ring)
{
    return b->now->on_host ? (char *)b->image[t].bytes : b->now->slot[t].region[ring].base;
}

/* Address of the tensor in a call. */
static char *memory_in(const struct buffers *b, int tensor, const struct call *call)
{
    return buffers_region(b, tensor, call->set - b->now->first_set);
}

/* Makes a private copy, which later writes of the candidate's process do not change. */
bool buffers_keep(struct buffers *b, const struct call *call, bool before)
{
    const int fetched = b->now->on_host ? copy_images(b, true) : 0;
    if (fetched)
        return status_failed(b->status, "reading the tensors", fetched);
    for (int t = 0; t < b->tensors; t++) {
        const struct slot *slot = &b->now->slot[t];
        const int error = buffers_are_written(b, t)
                              ? buffers_memory(b)->copy(before ? slot->before : slot->got,
                                                        memory_in(b, t, call) + call->offset[t], slot->bytes)
                              : 0;
        if (error)
            return status_failed(b->status, "reading an output", error);
    }
    return true;
}

bool buffers_snapshot(struct buffers *b, const struct call *call)
{
    buffers_swap(b);
    return buffers_keep(b, call, false);
}

void buffers_swap(struct buffers *b)
{
    for (int t = 0; t < b->tensors; t++) {
        struct slot *slot = &b->now->slot[t];
        void *const got = slot->got;
        slot->got = slot->before;
        slot->before = got;
    }
}

/* Each tensor has a key of its own, so two equal tensors count twice. */
int buffers_fingerprint(const struct buffers *b, const struct call *call, uint64_t key, uint64_t *sum)
{
    int error = 0;
    *sum = 0;
    for (int t = 0; t < b->tensors && !error; t++) {
        uint64_t of_one = 0;
        if (!buffers_are_written(b, t))
            continue;
        error = buffers_memory(b)->fingerprint(memory_in(b, t, call) + call->offset[t], b->now->slot[t].bytes,
                                               fingerprint_mix(key, (uint64_t)t, 0), &of_one);
        *sum += of_one;
    }
    return error;
}

void buffers_judged(const struct buffers *b, struct judged_tensor *tensor)
{
    for (int t = 0; t < b->tensors; t++) {
        const struct slot *slot = &b->now->slot[t];
        tensor[t] = (struct judged_tensor){slot_content(slot), slot->got, slot->bytes};
    }
}

void call_arguments(const struct problem *problem, const struct instance *instance, struct call *call)
{
    call->arguments = problem_argument_count(problem);
    for (int i = 0; i < call->arguments; i++)
        call->argument[i] = argument_of(problem, instance, i);
}
