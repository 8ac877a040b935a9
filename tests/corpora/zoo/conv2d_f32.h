/* An honest conv2d_f32 to build on: the problem's baseline under another name. */
#ifndef ZOO_CONV2D_F32_H
#define ZOO_CONV2D_F32_H

#define conv2d_f32 honest
#ifdef __CUDACC__
#include "../../../problems/conv2d_f32/baseline.cu"
#else
#include "../../../problems/conv2d_f32/baseline.c"
#endif
#undef conv2d_f32

#endif
