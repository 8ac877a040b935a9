#include "fuzz.h"

const struct problem *fuzz_problem(const uint8_t **data, size_t *size)
{
    int count = 0;
    while (problem_registry[count])
        count++;
    const int chosen = *size > 0 ? **data % count : 0;
    if (*size > 0) {
        ++*data;
        --*size;
    }
    return problem_registry[chosen];
}
