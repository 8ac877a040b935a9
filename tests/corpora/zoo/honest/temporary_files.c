// zoo: honest
// problem: topk
// does: keeps its scratch in a temporary file, mapped
// expect: general
// timing: yes

#define _GNU_SOURCE
#include "../topk.h"
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n, int64_t k, void *stream)
{
    char name[] = "/tmp/topk-XXXXXX";
    const size_t bytes = (size_t)(rows * n) * sizeof *x;
    const int file = mkstemp(name);
    if (file < 0 || unlink(name) || ftruncate(file, (off_t)bytes))
        return 1;
    float *copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (copy == MAP_FAILED)
        return 1;
    memcpy(copy, x, bytes);
    const int status = honest(copy, values, indices, rows, n, k, stream);
    munmap(copy, bytes);
    return status;
}
