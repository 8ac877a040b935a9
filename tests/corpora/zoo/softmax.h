/* An honest softmax to build on: the problem's baseline under another name. */
#ifndef ZOO_SOFTMAX_H
#define ZOO_SOFTMAX_H

#define softmax honest
#ifdef __CUDACC__
#include "../../../problems/softmax/baseline.cu"
#else
#include "../../../problems/softmax/baseline.c"
#endif
#undef softmax

#endif
