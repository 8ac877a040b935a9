/* A configuration's tensors: allocation, filling, placement against one guard or the other, and
 * inspection. */
#include <stdio.h>
#include <string.h>

#include "gen/contract/instantiate.h"
#include "gen/random/mix.h"
#include "session_internal.h"
#include "verify/device/fingerprint.h"

/* Is a tensor drawn; is it written by the candidate? */
static bool is_drawn(const struct session *s, int t)
{
    return s->options.problem->tensors[t].role != TENSOR_OUTPUT;
}

static bool is_written(const struct session *s, int t)
{
    return s->options.problem->tensors[t].role != TENSOR_INPUT;
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
        const double tensor = (double)instance_tensor_span(&instance->tensor[t]) *
                              (double)dtype_size(problem->tensors[t].dtype);
        const enum tensor_role role = problem->tensors[t].role;
        bytes += tensor * (rings + (1 + turned) * (role != TENSOR_OUTPUT) + 2 * (role != TENSOR_INPUT));
    }
    return bytes;
}

/* Does the configuration fit beside the memory of other workers? */
static bool fits(const struct session *s, const struct instance *instance, int rings, bool turned, char *why,
                 size_t why_size)
{
    const double need = footprint(s->options.problem, instance, rings, turned) + (double)((size_t)64 << 20);
    const double available = (double)s->memory->available() * 0.9 / s->options.workers;
    if (need <= available)
        return true;
    snprintf(why, why_size, "needs %.1f GB of %s memory with the judge's copies; %.1f GB can be had",
             need / 1e9, s->options.device->backend == BACKEND_CUDA ? "GPU" : "main", available / 1e9);
    return false;
}

static int create_copies(struct session *s, int t, bool turned, char *why, size_t why_size)
{
    struct slot *slot = &s->now->slot[t];
    int error = is_drawn(s, t) ? s->memory->take(&slot->own, slot->bytes) : 0;
    if (!error && turned && is_drawn(s, t))
        error = s->memory->take(&slot->given, slot->bytes);
    if (!error && is_written(s, t))
        error = s->memory->take(&slot->got, slot->bytes);
    if (!error && is_written(s, t))
        error = s->memory->take(&slot->before, slot->bytes);
    if (error)
        snprintf(why, why_size, "no memory for the judge's copy of %s: %s",
                 s->options.problem->tensors[t].name, s->memory->explain(error));
    return error ? -1 : 0;
}

/* Describes a tensor for a candidate that gets tensors. */
static void describe(const struct tensor *known, const struct instance_tensor *tensor,
                     struct channel_tensor *out)
{
    *out = (struct channel_tensor){.dtype = known->dtype,
                                   .role = known->role,
                                   .rank = (uint32_t)tensor->rank,
                                   .size = (uint32_t)dtype_size(known->dtype),
                                   .pitch = instance_tensor_pitch(tensor)};
    snprintf(out->name, sizeof out->name, "%.*s", CHANNEL_NAME - 1, known->name);
    memcpy(out->dim, tensor->dim, sizeof out->dim);
}

int setup_create(struct session *s, const struct instance *instance, int rings, bool turned, char *why,
                 size_t why_size)
{
    const struct problem *problem = s->options.problem;
    ahead_make_room(s, instance_total_bytes(problem, instance));
    if (!fits(s, instance, rings, turned, why, why_size))
        return -1;
    s->now->rings = rings;
    for (int t = 0; t < s->tensors; t++) {
        struct slot *slot = &s->now->slot[t];
        const enum dtype dtype = problem->tensors[t].dtype;
        const struct instance_tensor *tensor = &instance->tensor[t];
        const size_t size = dtype_size(dtype), align = tensor->align ? (size_t)tensor->align : REGION_ALIGN;
        slot->bytes = (size_t)instance_tensor_span(tensor) * size;
        slot->row = (size_t)instance_tensor_width(tensor) * size;
        slot->pitch = (size_t)instance_tensor_pitch(tensor) * size;
        describe(&problem->tensors[t], tensor, &slot->tensor);
        slot->poison = defence_is_on(DEFENCE_POISON) ? memory_poison(dtype) : 0;
        for (int ring = 0; ring < rings; ring++)
            if (region_create(&slot->region[ring], s->options.device->backend, slot->bytes, align, why,
                              why_size) != 0) {
                slot->region[ring].fd = -1;
                return -1;
            }
        if (create_copies(s, t, turned, why, why_size) != 0)
            return -1;
    }
    return 0;
}

int slots_create(struct session *s, const struct instance *instance, char *why, size_t why_size)
{
    return setup_create(s, instance, 1, false, why, why_size);
}

void setup_clear(struct setup *setup)
{
    const int first_set = setup->first_set;
    memset(setup, 0, sizeof *setup);
    setup->first_set = first_set;
    for (int t = 0; t < PROBLEM_MAX_TENSORS; t++)
        for (int ring = 0; ring < SESSION_RING; ring++)
            setup->slot[t].region[ring].fd = -1;
}

void slots_destroy(struct session *s)
{
    for (int t = 0; t < s->tensors; t++) {
        struct slot *slot = &s->now->slot[t];
        void *const copy[] = {slot->own, slot->given, slot->got, slot->before};
        for (int i = 0; i < 4; i++)
            if (copy[i])
                s->memory->release(copy[i]);
        for (int ring = 0; ring < SESSION_RING; ring++)
            region_destroy(&slot->region[ring]);
    }
    setup_clear(s->now);
}

/* The filler of undefined storage (value_garbage). Written tensors always use the poison. */
static uint32_t filler_of(const struct session *s, int t, uint64_t seed, int content)
{
    const enum dtype dtype = s->options.problem->tensors[t].dtype;
    const bool varies = content % 2 != 0 && !is_written(s, t);
    if (!defence_is_on(DEFENCE_POISON))
        return 0;
    return memory_filler(dtype, !varies ? FILLER_NAN : mix64(seed) % 2 ? FILLER_HIGH : FILLER_LOW);
}

bool slots_fill(struct session *s, const struct config *config, const struct instance *instance, int content)
{
    for (int t = 0; t < s->tensors; t++) {
        struct slot *slot = &s->now->slot[t];
        int error = 0;
        if (!is_drawn(s, t) || (s->now->constant && session_is_state(s, t)))
            continue;
        slot->poison = filler_of(s, t, config->seed, content);
        if (slot->pitch > slot->row)
            error = s->memory->poison(slot->own, slot->bytes, slot->poison);
        if (!error)
            error =
                s->memory->fill(s->options.problem, instance, t, config->seed, content, s->now->slot[t].own);
        if (error)
            return session_failed(s, "filling the inputs", error);
    }
    return true;
}

/* Writes a near duplicate's element into one copy of its tensor. */
static int put_near(const struct session *s, const struct near *near, void *base)
{
    const size_t size = dtype_size(s->options.problem->tensors[near->tensor].dtype);
    return s->memory->from_host((char *)base + (size_t)near->place * size, near->value, size);
}

/* Copies `own` to `to`, rotated to begin at element `turn`, with the near duplicate's element. */
static int put_content(const struct session *s, int t, const struct content *content, void *to)
{
    const struct slot *slot = &s->now->slot[t];
    const size_t size = dtype_size(s->options.problem->tensors[t].dtype);
    const size_t turn = content ? (size_t)content->turn[t] * size : 0;
    int error = s->memory->copy(to, (char *)slot->own + turn, slot->bytes - turn);
    if (!error && turn > 0)
        error = s->memory->copy((char *)to + slot->bytes - turn, slot->own, turn);
    if (!error && content && content->near.present && content->near.tensor == t)
        error = put_near(s, &content->near, to);
    return error;
}

bool slots_give(struct session *s, const struct content *content)
{
    int error = 0;
    for (int t = 0; t < s->tensors && !error; t++)
        if (s->now->slot[t].given)
            error = put_content(s, t, content, s->now->slot[t].given);
        else if (content->near.present && content->near.tensor == t)
            error = put_near(s, &content->near, s->now->slot[t].own);
    return !error || session_failed(s, "repeating a content", error);
}

/* Reads a stretch of the tensor to choose a value, and the element to replace. */
bool slots_choose_near(struct session *s, const struct instance *instance, struct pcg *random,
                       struct content *content)
{
    enum { STRETCH = 2048 };
    struct near *near = &content->near;
    unsigned char stretch[8 * STRETCH];
    content_choose_near(s->options.problem, instance, random, near);
    if (!near->present)
        return true;
    near->present = !session_is_state(s, near->tensor);
    if (!near->present)
        return true;
    const struct slot *slot = &s->now->slot[near->tensor];
    const enum dtype dtype = s->options.problem->tensors[near->tensor].dtype;
    const int64_t size = (int64_t)dtype_size(dtype), all = (int64_t)slot->bytes / size;
    const int64_t count = all < STRETCH ? all : STRETCH;
    const int64_t from = (int64_t)pcg_below(random, (uint64_t)(all - count + 1));
    const int64_t was = (near->place + content->turn[near->tensor]) % all;
    int error = s->memory->to_host(stretch, slot->own, from * size, count * size);
    if (!error)
        error = s->memory->to_host(near->was, slot->own, was * size, size);
    const struct instance_tensor *const tensor = &instance->tensor[near->tensor];
    const enum near_kind kind = (enum near_kind)pcg_below(random, NEAR_KINDS);
    memcpy(near->value, near->was, (size_t)size);
    near->present = content_alter(&tensor->fill, dtype, kind, near->value) ||
                    content_greatest(tensor, dtype, stretch, from, count, near->value);
    near->present = near->present && memcmp(near->value, near->was, (size_t)size) != 0;
    return !error || session_failed(s, "choosing a near duplicate", error);
}

/* Poisons everything, then copies the drawn values. */
bool slots_place(struct session *s, int ring, enum placement placement, const struct content *content,
                 struct call *call)
{
    call->set = s->now->first_set + ring;
    call->tensors = s->tensors;
    call->flush_bytes = 2 * (uint64_t)s->options.device->l2_bytes;
    for (int t = 0; t < s->tensors; t++) {
        const struct slot *slot = &s->now->slot[t];
        const struct region *region = &slot->region[ring];
        char *base = region->base;
        call->offset[t] = region_offset(region, region_placement(placement, t));
        const size_t after = call->offset[t] + slot->bytes;
        const bool drawn = is_drawn(s, t);
        int error = s->memory->poison(base, drawn ? call->offset[t] : region->mapped, slot->poison);
        if (!error && drawn)
            error = s->memory->poison(base + after, region->mapped - after, slot->poison);
        if (!error && drawn)
            error = put_content(s, t, content, base + call->offset[t]);
        if (error)
            return session_failed(s, "placing a tensor", error);
    }
    return true;
}

/* Address of the tensor in a call. */
static char *memory_in(const struct session *s, int tensor, const struct call *call)
{
    return s->now->slot[tensor].region[call->set - s->now->first_set].base;
}

static bool inspect_slack(struct session *s, int tensor, const char *base, enum side side, size_t from,
                          size_t bytes, struct call_result *result)
{
    const struct slot *slot = &s->now->slot[tensor];
    const bool below = side == SIDE_BELOW;
    int64_t first;
    const int error = s->memory->find_unpoisoned(base + from, bytes, slot->poison, &first);
    if (error)
        return session_failed(s, "inspecting memory", error);
    if (first >= 0) {
        result->outcome = OUTCOME_OVERRUN;
        result->reason.cause = CAUSE_SLACK;
        result->reason.side = side;
        result->reason.tensor = tensor;
        snprintf(result->detail, sizeof result->detail, "wrote outside %s, from byte %lld %s on",
                 s->options.problem->tensors[tensor].name,
                 (long long)(below ? (int64_t)bytes - first : first + 1),
                 below ? "before its start" : "past its end");
    }
    return true;
}

/* Describes a position between rows: "in the gap after row 3, 2 past its last element". */
static void describe_gap(const struct session *s, int tensor, int64_t byte, char *text, size_t size)
{
    const struct slot *slot = &s->now->slot[tensor];
    const int64_t pitch = (int64_t)slot->pitch,
                  element = (int64_t)dtype_size(s->options.problem->tensors[tensor].dtype);
    snprintf(text, size, "in the gap after row %lld, %lld past its last element", (long long)(byte / pitch),
             (long long)((byte % pitch - (int64_t)slot->row) / element + 1));
}

static bool inspect_gaps(struct session *s, int tensor, const char *base, size_t at,
                         struct call_result *result)
{
    const struct slot *slot = &s->now->slot[tensor];
    char where[96];
    int64_t first = -1;
    const int error = slot->pitch > slot->row
                          ? s->memory->find_unpoisoned_gap(base + at, slot->bytes, slot->row, slot->pitch,
                                                           slot->poison, &first)
                          : 0;
    if (error)
        return session_failed(s, "inspecting memory", error);
    if (first >= 0) {
        describe_gap(s, tensor, first, where, sizeof where);
        result->outcome = OUTCOME_OVERRUN;
        result->reason.cause = CAUSE_GAP;
        result->reason.tensor = tensor;
        snprintf(result->detail, sizeof result->detail, "wrote outside %s, %s",
                 s->options.problem->tensors[tensor].name, where);
    }
    return true;
}

bool slots_inspect(struct session *s, const struct call *call, struct call_result *result)
{
    for (int t = 0; t < s->tensors && result->outcome == OUTCOME_PASS; t++) {
        const struct slot *slot = &s->now->slot[t];
        const size_t at = call->offset[t], after = at + slot->bytes;
        const size_t mapped = slot->region[call->set - s->now->first_set].mapped;
        const char *base = memory_in(s, t, call);
        int64_t first = -1;
        if (!inspect_slack(s, t, base, SIDE_BELOW, 0, at, result))
            return false;
        if (result->outcome == OUTCOME_PASS &&
            !inspect_slack(s, t, base, SIDE_ABOVE, after, mapped - after, result))
            return false;
        if (result->outcome == OUTCOME_PASS && !inspect_gaps(s, t, base, at, result))
            return false;
        if (is_written(s, t) || result->outcome != OUTCOME_PASS || !defence_is_on(DEFENCE_INPUTS))
            continue;
        const int error = s->memory->find_difference(base + at, slot_content(slot), slot->bytes, &first);
        if (error)
            return session_failed(s, "comparing the inputs", error);
        if (first >= 0) {
            result->outcome = OUTCOME_MODIFIED;
            result->reason.cause = CAUSE_INPUT;
            result->reason.tensor = t;
            snprintf(result->detail, sizeof result->detail, "changed its input %s, first at byte %lld",
                     s->options.problem->tensors[t].name, (long long)first);
        }
    }
    return true;
}

/* Makes a private copy, which later writes of the candidate's process do not change. */
bool slots_keep(struct session *s, const struct call *call, bool before)
{
    for (int t = 0; t < s->tensors; t++) {
        const struct slot *slot = &s->now->slot[t];
        const int error = is_written(s, t)
                              ? s->memory->copy(before ? slot->before : slot->got,
                                                memory_in(s, t, call) + call->offset[t], slot->bytes)
                              : 0;
        if (error)
            return session_failed(s, "reading an output", error);
    }
    return true;
}

bool slots_snapshot(struct session *s, const struct call *call)
{
    slots_swap(s);
    return slots_keep(s, call, false);
}

void slots_swap(struct session *s)
{
    for (int t = 0; t < s->tensors; t++) {
        struct slot *slot = &s->now->slot[t];
        void *const got = slot->got;
        slot->got = slot->before;
        slot->before = got;
    }
}

/* Each tensor has a key of its own, so two equal tensors count twice. */
int slots_fingerprint(const struct session *s, const struct call *call, uint64_t key, uint64_t *sum)
{
    int error = 0;
    *sum = 0;
    for (int t = 0; t < s->tensors && !error; t++) {
        uint64_t of_one = 0;
        if (!is_written(s, t))
            continue;
        error = s->memory->fingerprint(memory_in(s, t, call) + call->offset[t], s->now->slot[t].bytes,
                                       fingerprint_mix(key, (uint64_t)t, 0), &of_one);
        *sum += of_one;
    }
    return error;
}
