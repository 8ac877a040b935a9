/* The honest kernel, honest_rms_norm, and vectors of a row, for candidates that differ from it in a step. */
#define rms_norm honest_rms_norm
#include "../../../problems/rms_norm/baseline.cu"
#undef rms_norm

constexpr int EIGHT = 8;

struct eight {
    float at[EIGHT];
};

/* Eight elements by one load of 16 bytes. A bf16 is the upper half of a float. */
__device__ inline eight load_eight(const __nv_bfloat16 *x)
{
    const uint4 bits = *reinterpret_cast<const uint4 *>(x);
    const unsigned word[] = {bits.x, bits.y, bits.z, bits.w};
    eight v;
    for (int i = 0; i < EIGHT; i++)
        v.at[i] = __uint_as_float(i % 2 ? word[i / 2] & 0xffff0000u : word[i / 2] << 16);
    return v;
}

__device__ inline float square_sum(const eight &v)
{
    float sum = 0;
    for (int i = 0; i < EIGHT; i++)
        sum += v.at[i] * v.at[i];
    return sum;
}
