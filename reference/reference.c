#include "judge.h"

#include <string.h>

#ifdef HAVE_CUDA
#define REFERENCE_CUDA(name) judge_cuda_##name
#else
#define REFERENCE_CUDA(name) NULL
#endif

#define PROBLEM(name)                                                                                        \
    int judge_host_##name(const struct judge_request *, struct judge_report *);                              \
    int judge_cuda_##name(const struct judge_request *, struct judge_report *);                              \
    int witness_##name(const struct judge_request *, const struct judged *, struct witnessed *);             \
    int witness_list_##name(const struct judge_request *, const struct judged *const *, struct witnessed *,  \
                            int);                                                                            \
    int64_t row_of_##name(const struct judge_request *, int64_t);                                            \
    int64_t same_row_##name(const struct judge_request *, int64_t, uint64_t);                                \
    double witness_cost_##name(const struct judge_request *);
#include "../problems/registry.def"
#undef PROBLEM

static const struct reference references[] = {
#define PROBLEM(name)                                                                                        \
    {#name,         judge_host_##name, REFERENCE_CUDA(name), witness_##name, witness_list_##name,            \
     row_of_##name, same_row_##name,   witness_cost_##name},
#include "../problems/registry.def"
#undef PROBLEM
};

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

const struct reference *reference_find(const char *problem)
{
    for (size_t i = 0; i < sizeof references / sizeof *references; i++)
        if (strcmp(references[i].name, problem) == 0)
            return &references[i];
    return NULL;
}
