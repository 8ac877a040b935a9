#include "problems/gemm.h"

static const struct tensor tensors[] = {{"a", DTYPE_F32, TENSOR_INPUT, "[m, k]"},
                                        {"b", DTYPE_F32, TENSOR_INPUT, "[k, n], or [n, k] when trans_b = 1"},
                                        {"c", DTYPE_F32, TENSOR_OUTPUT, "[m, n]"},
                                        {0}};

const struct problem problem_gemm_f32 = {
    .name = "gemm_f32",
    .summary = "fp32 matrix product",
    .arithmetic = "products and sums in fp32, in any order and any split; TF32 is a downgrade, its "
                  "three-term form is not",
    .axes = gemm_axes,
    .tensors = tensors,
    .arguments = gemm_arguments,
    .arithmetic_class = ARITHMETIC_F32,
    .peak = PEAK_F32,
    .classes = gemm_classes,
    .half = {0, 1, 0},
    .published_atol = 1e-5,
    .published_rtol = 1e-4,
    .host_ns = 1.4,
    .instantiate = gemm_instantiate,
};
