/* An honest topk to build on: the problem's baseline under another name. */
#ifndef ZOO_TOPK_H
#define ZOO_TOPK_H

#define topk honest
#ifdef __CUDACC__
#include "../../../problems/topk/baseline.cu"
#else
#include "../../../problems/topk/baseline.c"
#endif
#undef topk

#endif
