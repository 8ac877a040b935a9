#include "judge.h"

#include <string.h>

#ifdef HAVE_CUDA
#define REFERENCE_CUDA(name) judge_cuda_##name
#else
#define REFERENCE_CUDA(name) NULL
#endif

#define PROBLEM(name)                                                                        \
    int judge_host_##name(const struct judge_request *, struct judge_report *);              \
    int judge_cuda_##name(const struct judge_request *, struct judge_report *);              \
    int witness_##name(const struct judge_request *, const struct judged *,                  \
                       struct witnessed *);                                                  \
    int witness_list_##name(const struct judge_request *, const struct judged *const *,      \
                            struct witnessed *, int);                                        \
    int64_t row_of_##name(const struct judge_request *, int64_t);                            \
    int64_t same_row_##name(const struct judge_request *, int64_t, uint64_t);                \
    double witness_cost_##name(const struct judge_request *);
#include "../problems/registry.def"
#undef PROBLEM

static const struct reference references[] = {
#define PROBLEM(name) \
    {#name,           judge_host_##name,   REFERENCE_CUDA(name),  witness_##name, \
     witness_list_##name, row_of_##name, same_row_##name, witness_cost_##name},
#include "../problems/registry.def"
#undef PROBLEM
};

const struct reference *reference_find(const char *problem)
{
    for (size_t i = 0; i < sizeof references / sizeof *references; i++)
        if (strcmp(references[i].name, problem) == 0)
            return &references[i];
    return NULL;
}
