/* An honest gemm_f32 to build on: the problem's baseline under another name. */
#ifndef ZOO_GEMM_F32_H
#define ZOO_GEMM_F32_H

#define gemm_f32 honest
#ifdef __CUDACC__
#include "../../../problems/gemm_f32/baseline.cu"
#else
#include "../../../problems/gemm_f32/baseline.c"
#endif
#undef gemm_f32

#endif
