#include "problems/gemm.h"

static const struct tensor tensors[] = {{"a", DTYPE_BF16, TENSOR_INPUT, "[m, k]"},
                                        {"b", DTYPE_BF16, TENSOR_INPUT, "[k, n], or [n, k] when trans_b = 1"},
                                        {"c", DTYPE_BF16, TENSOR_OUTPUT, "[m, n]"},
                                        {0}};

const struct problem problem_gemm_bf16 = {
    .name = "gemm_bf16",
    .summary = "bf16 matrix product, fp32 sums, one rounding to bf16",
    .arithmetic =
        "products and sums in fp32 or in the 16-bit MMA class of the GPU in hand; one rounding to bf16",
    .axes = gemm_axes,
    .tensors = tensors,
    .arguments = gemm_arguments,
    .arithmetic_class = ARITHMETIC_MMA16,
    .peak = PEAK_BF16,
    .classes = gemm_classes,
    .half = {0, 1, 0},
    .published_atol = 1e-2,
    .published_rtol = 1e-2,
    .host_ns = 1.4,
    .instantiate = gemm_instantiate,
};
