// problem: softmax
// link: https://github.com/microsoft/onnxruntime/issues/32299
// title: softmax_warp_forward overflows int32 above 2^31 elements and can return silently wrong results
// condition: first_batch * stride overflows int32 in tensors of more than 2^31 elements; sized down to 2^20
// kind: overflow
// when: (rows - 1) * cols >= 1048576
// wrong: out of bounds: offsets of later rows wrap to negative ones

#define softmax honest_softmax
#include "../../../problems/softmax/baseline.c"
#undef softmax

/* The value of an offset in a signed integer of 21 bits. */
static int64_t narrow(int64_t offset)
{
    return (int64_t)((uint64_t)offset << 43) >> 43;
}

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    for (int64_t batch = 0; batch < rows; batch++)
        honest_softmax(x + narrow(batch * cols), y + narrow(batch * cols), 1, cols, stream);
    return 0;
}
