// problem: topk
// link: https://github.com/intel/torch-xpu-ops/issues/4839
// title: torch.topk on XPU returns invalid (-1) indices with NaN input at batch size >= ~512
// condition: a batch of 512 and more, and rows with NaN; -inf here, which loses against a padded place just so
// kind: threshold
// when: rows >= 512 and input=infinities
// side: necessary
// wrong: wrong indices: -1, of places that pad a row to whole groups

#include <math.h>

#define topk honest_topk
#include "../../../problems/topk/baseline.c"
#undef topk

int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n, int64_t k, void *stream)
{
    const int failed = honest_topk(x, values, indices, rows, n, k, stream);
    const int64_t padded = (n + 31) / 32 * 32 - n;
    for (int64_t r = 0; rows >= 512 && r < rows; r++)
        for (int64_t j = 0, left = padded; j < k; j++) /* among equals, padded places come first */
            if (values[r * k + j] == -INFINITY && left-- > 0)
                indices[r * k + j] = -1;
    return failed;
}
