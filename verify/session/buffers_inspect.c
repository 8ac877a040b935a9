/* Inspection of a call's tensors: does anything differ that the call must not change? */
#include <stdio.h>

#include "buffers.h"
#include "verify/util/defence.h"

/* The parts of a tensor's memory that a call must not change, in the order in which a change is reported. */
enum part { PART_BELOW, PART_ABOVE, PART_GAPS, PART_INPUT, PARTS };

static void report_slack(const struct buffers *b, int tensor, bool below, const struct memory_search *s,
                         struct call_result *result)
{
    result->outcome = OUTCOME_OVERRUN;
    result->reason.cause = CAUSE_SLACK;
    result->reason.side = below ? SIDE_BELOW : SIDE_ABOVE;
    snprintf(result->detail, sizeof result->detail, "wrote outside %s, from byte %lld %s on",
             b->problem->tensors[tensor].name,
             (long long)(below ? (int64_t)s->bytes - s->first : s->first + 1),
             below ? "before its start" : "past its end");
}

/* The position between rows: "in the gap after row 3, 2 past its last element". */
static void report_gap(const struct buffers *b, int tensor, int64_t byte, struct call_result *result)
{
    const struct slot *slot = &b->now->slot[tensor];
    const int64_t pitch = (int64_t)slot->pitch, past = byte % pitch - (int64_t)slot->row;
    result->outcome = OUTCOME_OVERRUN;
    result->reason.cause = CAUSE_GAP;
    snprintf(result->detail, sizeof result->detail,
             "wrote outside %s, in the gap after row %lld, %lld past its last element",
             b->problem->tensors[tensor].name, (long long)(byte / pitch),
             (long long)(past * 8 / dtype_row(b->problem->tensors[tensor].dtype)->bits + 1));
}

static void report_input(const struct buffers *b, int tensor, int64_t byte, struct call_result *result)
{
    result->outcome = OUTCOME_MODIFIED;
    result->reason.cause = CAUSE_INPUT;
    snprintf(result->detail, sizeof result->detail, "changed its input %s, first at byte %lld",
             b->problem->tensors[tensor].name, (long long)byte);
}

/* A search of no bytes finds nothing. */
static void list_parts(const struct buffers *b, int t, const struct call *call, struct memory_search *search)
{
    const struct slot *slot = &b->now->slot[t];
    const size_t at = call->offset[t], after = at + slot->bytes;
    const size_t mapped = slot->region[call->set - b->now->first_set].mapped;
    const char *const base = buffers_region(b, t, call->set - b->now->first_set);
    const bool compares = !buffers_are_written(b, t) && defence_is_on(DEFENCE_INPUTS);
    search[PART_BELOW] = (struct memory_search){.memory = base, .bytes = at, .word = slot->poison};
    search[PART_ABOVE] =
        (struct memory_search){.memory = base + after, .bytes = mapped - after, .word = slot->poison};
    search[PART_GAPS] = (struct memory_search){.memory = base + at,
                                               .bytes = slot->pitch > slot->row ? slot->bytes : 0,
                                               .word = slot->poison,
                                               .row = slot->row,
                                               .pitch = slot->pitch};
    search[PART_INPUT] = (struct memory_search){
        .memory = base + at, .bytes = compares ? slot->bytes : 0, .other = slot_content(slot)};
}

bool buffers_inspect(struct buffers *b, const struct call *call, struct call_result *result)
{
    struct memory_search search[PROBLEM_MAX_TENSORS][PARTS];
    _Static_assert(sizeof search / sizeof **search <= MEMORY_SEARCHES, "one wait for all parts");
    for (int t = 0; t < b->tensors; t++)
        list_parts(b, t, call, search[t]);
    const int error = buffers_memory(b)->search(*search, b->tensors * PARTS);
    if (error)
        return status_failed(b->status, "inspecting memory", error);
    for (int t = 0; t < b->tensors && b->now->on_host; t++)
        b->image[t].clean = search[t][PART_BELOW].first < 0 && search[t][PART_ABOVE].first < 0;
    for (int i = 0; i < b->tensors * PARTS && result->outcome == OUTCOME_PASS; i++) {
        const int t = i / PARTS, part = i % PARTS;
        const struct memory_search *const found = &search[t][part];
        if (found->first < 0)
            continue;
        result->reason.tensor = t;
        if (part == PART_GAPS)
            report_gap(b, t, found->first, result);
        else if (part == PART_INPUT)
            report_input(b, t, found->first, result);
        else
            report_slack(b, t, part == PART_BELOW, found, result);
    }
    return true;
}

bool buffers_compare(struct buffers *b, unsigned *differ)
{
    struct memory_search search[PROBLEM_MAX_TENSORS];
    for (int t = 0; t < b->tensors; t++) {
        const struct slot *const slot = &b->now->slot[t];
        search[t] = (struct memory_search){
            .memory = slot->got, .bytes = slot->got ? slot->bytes : 0, .other = slot->before};
    }
    const int error = buffers_memory(b)->search(search, b->tensors);
    if (error)
        return status_failed(b->status, "comparing outputs", error);
    *differ = 0;
    for (int t = 0; t < b->tensors; t++)
        *differ |= (unsigned)(search[t].first >= 0) << t;
    return true;
}

bool buffers_copy_outputs(struct buffers *b)
{
    int error = 0;
    for (int t = 0; t < b->tensors && !error; t++)
        if (b->now->slot[t].got && b->copies[t])
            error = (b->now->on_host ? b->memory->from_host : b->memory->copy)(
                b->copies[t], b->now->slot[t].got, b->now->slot[t].bytes);
    return !error || status_failed(b->status, "copying outputs", error);
}
