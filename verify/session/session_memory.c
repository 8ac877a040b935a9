/* A configuration's tensors: created, filled, placed against one guard or the other, and inspected. */
#include <stdio.h>
#include <string.h>

#include "session_internal.h"

/* Is a tensor drawn, and does the candidate write it? */
static bool is_drawn(const struct session *s, int t)
{
    return s->options.problem->tensors[t].role != TENSOR_OUTPUT;
}

static bool is_written(const struct session *s, int t)
{
    return s->options.problem->tensors[t].role != TENSOR_INPUT;
}

bool slots_have_inout(const struct session *s)
{
    for (int t = 0; t < s->tensors; t++)
        if (is_drawn(s, t) && is_written(s, t))
            return true;
    return false;
}

/* Region; what is put there; two snapshots of what comes back. What the judge needs besides is small. */
static double footprint(const struct problem *problem, const struct instance *instance)
{
    double bytes = 0;
    for (int t = 0; problem->tensors[t].name; t++) {
        const double tensor = (double)instance_tensor_span(&instance->tensor[t]) *
                              (double)dtype_size(problem->tensors[t].dtype);
        const enum tensor_role role = problem->tensors[t].role;
        bytes += tensor * (1 + (role != TENSOR_OUTPUT) + 2 * (role != TENSOR_INPUT));
    }
    return bytes;
}

/* Room for the configuration beside what other workers hold? */
static bool fits(const struct session *s, const struct instance *instance, char *why, size_t why_size)
{
    const double need = footprint(s->options.problem, instance) + (double)((size_t)64 << 20);
    const double available = (double)s->memory->available() * 0.9 / s->options.workers;
    if (need <= available)
        return true;
    snprintf(why, why_size, "needs %.1f GB of %s memory with the judge's copies; %.1f GB can be had",
             need / 1e9, s->options.device->backend == BACKEND_CUDA ? "GPU" : "main", available / 1e9);
    return false;
}

int slots_create(struct session *s, const struct instance *instance, char *why, size_t why_size)
{
    const struct problem *problem = s->options.problem;
    if (!fits(s, instance, why, why_size))
        return -1;
    for (int t = 0; t < s->tensors; t++) {
        struct slot *slot = &s->slot[t];
        const enum dtype dtype = problem->tensors[t].dtype;
        const struct instance_tensor *tensor = &instance->tensor[t];
        const size_t size = dtype_size(dtype), align = tensor->align ? (size_t)tensor->align : REGION_ALIGN;
        slot->bytes = (size_t)instance_tensor_span(tensor) * size;
        slot->row = (size_t)instance_tensor_width(tensor) * size;
        slot->pitch = (size_t)instance_tensor_pitch(tensor) * size;
        slot->poison = defence_is_on(DEFENCE_POISON) ? memory_poison(dtype) : 0;
        if (region_create(&slot->region, s->options.device->backend, slot->bytes, align, why, why_size) !=
            0) {
            slot->region.fd = -1;
            return -1;
        }
        int error = is_drawn(s, t) ? s->memory->take(&slot->own, slot->bytes) : 0;
        if (!error && is_written(s, t))
            error = s->memory->take(&slot->got, slot->bytes);
        if (!error && is_written(s, t))
            error = s->memory->take(&slot->before, slot->bytes);
        if (error) {
            snprintf(why, why_size, "no memory for the judge's copy of %s: %s", problem->tensors[t].name,
                     s->memory->explain(error));
            return -1;
        }
    }
    return 0;
}

void slots_destroy(struct session *s)
{
    for (int t = 0; t < s->tensors; t++) {
        struct slot *slot = &s->slot[t];
        void *const copy[] = {slot->own, slot->got, slot->before};
        for (int i = 0; i < 3; i++)
            if (copy[i])
                s->memory->release(copy[i]);
        region_destroy(&slot->region);
        memset(slot, 0, sizeof *slot);
        slot->region.fd = -1;
    }
    s->mapped = false;
}

bool slots_fill(struct session *s, const struct config *config, const struct instance *instance, int content)
{
    for (int t = 0; t < s->tensors; t++) {
        const struct slot *slot = &s->slot[t];
        int error = 0;
        if (!is_drawn(s, t))
            continue;
        if (slot->pitch > slot->row)
            error = s->memory->poison(slot->own, slot->bytes, slot->poison);
        if (!error)
            error = s->memory->fill(s->options.problem, instance, t, config->seed, content, s->slot[t].own);
        if (error)
            return session_failed(s, "filling the inputs", error);
    }
    return true;
}

/* Poison everything, then put in what is drawn. */
bool slots_place(struct session *s, enum placement placement, struct call *call)
{
    call->tensors = s->tensors;
    for (int t = 0; t < s->tensors; t++) {
        struct slot *slot = &s->slot[t];
        char *base = slot->region.base;
        call->offset[t] = region_offset(&slot->region, placement);
        const size_t after = call->offset[t] + slot->bytes;
        const bool drawn = is_drawn(s, t);
        int error = s->memory->poison(base, drawn ? call->offset[t] : slot->region.mapped, slot->poison);
        if (!error && drawn)
            error = s->memory->poison(base + after, slot->region.mapped - after, slot->poison);
        if (!error && drawn)
            error = s->memory->copy(base + call->offset[t], slot->own, slot->bytes);
        if (error)
            return session_failed(s, "placing a tensor", error);
    }
    return true;
}

static bool inspect_slack(struct session *s, int tensor, enum side side, size_t from, size_t bytes,
                          struct call_result *result)
{
    const struct slot *slot = &s->slot[tensor];
    const bool below = side == SIDE_BELOW;
    int64_t first;
    const int error =
        s->memory->find_unpoisoned((char *)slot->region.base + from, bytes, slot->poison, &first);
    if (error)
        return session_failed(s, "inspecting memory", error);
    if (first >= 0) {
        result->outcome = OUTCOME_OVERRUN;
        result->reason.cause = CAUSE_SLACK;
        result->reason.side = side;
        result->reason.tensor = tensor;
        snprintf(result->detail, sizeof result->detail, "wrote outside %s, %lld bytes %s",
                 s->options.problem->tensors[tensor].name,
                 (long long)(below ? (int64_t)bytes - first : first + 1),
                 below ? "before its start" : "past its end");
    }
    return true;
}

/* Where between rows that lie apart: "in the gap after row 3, 2 past its last element". */
static void describe_gap(const struct session *s, int tensor, int64_t byte, char *text, size_t size)
{
    const struct slot *slot = &s->slot[tensor];
    const int64_t pitch = (int64_t)slot->pitch,
                  element = (int64_t)dtype_size(s->options.problem->tensors[tensor].dtype);
    snprintf(text, size, "in the gap after row %lld, %lld past its last element", (long long)(byte / pitch),
             (long long)((byte % pitch - (int64_t)slot->row) / element + 1));
}

static bool inspect_gaps(struct session *s, int tensor, size_t at, struct call_result *result)
{
    const struct slot *slot = &s->slot[tensor];
    char where[96];
    int64_t first = -1;
    const int error = slot->pitch > slot->row
                          ? s->memory->find_unpoisoned_gap((char *)slot->region.base + at, slot->bytes,
                                                           slot->row, slot->pitch, slot->poison, &first)
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
        const struct slot *slot = &s->slot[t];
        const size_t at = call->offset[t], after = at + slot->bytes;
        int64_t first = -1;
        if (!inspect_slack(s, t, SIDE_BELOW, 0, at, result))
            return false;
        if (result->outcome == OUTCOME_PASS &&
            !inspect_slack(s, t, SIDE_ABOVE, after, slot->region.mapped - after, result))
            return false;
        if (result->outcome == OUTCOME_PASS && !inspect_gaps(s, t, at, result))
            return false;
        if (is_written(s, t) || result->outcome != OUTCOME_PASS || !defence_is_on(DEFENCE_INPUTS))
            continue;
        const int error =
            s->memory->find_difference((char *)slot->region.base + at, slot->own, slot->bytes, &first);
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

/* A private copy: what the candidate's process does to its memory from now on changes nothing. The
 * previous call's is kept. */
bool slots_snapshot(struct session *s, const struct call *call)
{
    for (int t = 0; t < s->tensors; t++) {
        struct slot *slot = &s->slot[t];
        if (!is_written(s, t))
            continue;
        void *previous = slot->before;
        slot->before = slot->got;
        slot->got = previous;
        const int error =
            s->memory->copy(slot->got, (char *)slot->region.base + call->offset[t], slot->bytes);
        if (error)
            return session_failed(s, "reading an output", error);
    }
    return true;
}

bool slots_restore(struct session *s, const struct call *call)
{
    for (int t = 0; t < s->tensors; t++) {
        const struct slot *slot = &s->slot[t];
        if (!is_drawn(s, t) || !is_written(s, t))
            continue;
        const int error =
            s->memory->copy((char *)slot->region.base + call->offset[t], slot->own, slot->bytes);
        if (error)
            return session_failed(s, "putting a tensor back", error);
    }
    return true;
}
