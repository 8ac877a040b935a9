#include "judge.h"

#include <string.h>

#define PROBLEM(name) extern const struct reference reference_##name;
#define JUDGED(name, output) extern const struct reference reference_##name##_##output;
#include "problems/registry.def"
#undef PROBLEM
#undef JUDGED

static const struct reference *const built_in[] = {
#define PROBLEM(name) &reference_##name,
#define JUDGED(name, output) &reference_##name##_##output,
#include "problems/registry.def"
#undef PROBLEM
#undef JUDGED
};
enum { BUILT_IN = sizeof built_in / sizeof *built_in, MOST_ADDED = 128 };

static const struct reference *added[MOST_ADDED];
static int added_count;

/* 4 exponent bits with bias 7, 3 fraction bits; no infinities (OCP FP8 E4M3FN). */
static float e4m3_value(int bits)
{
    const int exponent = bits >> 3 & 15, fraction = bits & 7;
    const float size = exponent ? ldexpf((float)(8 + fraction), exponent - 10) : ldexpf((float)fraction, -9);
    return (bits & 0x7f) == 0x7f ? NAN : bits & 0x80 ? -size : size;
}

const float *reference_e4m3(void)
{
    static float table[256];
    static int ready;
#pragma omp critical(e4m3)
    if (!ready) {
        for (int b = 0; b < 256; b++)
            table[b] = e4m3_value(b);
        ready = 1;
    }
    return table;
}

bool reference_add(const struct reference *reference)
{
    if (added_count == MOST_ADDED)
        return false;
    added[added_count++] = reference;
    return true;
}

void reference_remove(const struct problem *problem)
{
    int left = 0;
    for (int i = 0; i < added_count; i++)
        if (added[i]->problem != problem)
            added[left++] = added[i];
    added_count = left;
}

/* The judgement of the output with that name, or of the first output for NULL. */
static const struct reference *find(const struct problem *problem, const char *output)
{
    for (int i = 0; i < BUILT_IN + added_count; i++) {
        const struct reference *r = i < BUILT_IN ? built_in[i] : added[i - BUILT_IN];
        if (r->problem == problem && (output ? r->output && strcmp(r->output, output) == 0 : !r->output))
            return r;
    }
    return NULL;
}

/* Each output of an imported task has its own judgement. */
static int list_given(const struct problem *problem, struct judgement out[PROBLEM_MAX_TENSORS])
{
    int count = 0;
    for (int t = 0; problem->tensors[t].name; t++)
        if (problem->tensors[t].role != TENSOR_INPUT)
            out[count++] = (struct judgement){&reference_given, t, UINT32_C(1) << t};
    return count;
}

/* A discrete reference reads results from the context. For an in-out tensor the context has its contents
 * before the call, so it cannot be judged this way. */
int reference_list(const struct problem *problem, struct judgement out[PROBLEM_MAX_TENSORS], int *missing)
{
    const struct reference *first = find(problem, NULL);
    int count = 0, shared = -1; /* index of the judgement by reference.h */
    *missing = -1;
    if (problem->oracle)
        return list_given(problem, out);
    for (int t = 0; problem->tensors[t].name; t++) {
        const bool fits = first && (problem->tensors[t].role == TENSOR_OUTPUT || !first->discrete);
        const struct reference *own = find(problem, problem->tensors[t].name);
        if (problem->tensors[t].role == TENSOR_INPUT)
            continue;
        if (!own && fits && shared >= 0 && first->discrete) {
            out[shared].tensors |= UINT32_C(1) << t;
        } else if (own || (fits && shared < 0)) {
            shared = own ? shared : count;
            out[count++] = (struct judgement){own ? own : first, t, UINT32_C(1) << t};
        } else if (*missing < 0) {
            *missing = t;
        }
    }
    return count;
}

const struct reference *reference_find(const struct problem *problem, int tensor)
{
    struct judgement list[PROBLEM_MAX_TENSORS];
    int missing;
    const int count = reference_list(problem, list, &missing);
    for (int i = 0; i < count; i++)
        if (list[i].tensors >> tensor & 1)
            return list[i].reference;
    return NULL;
}
