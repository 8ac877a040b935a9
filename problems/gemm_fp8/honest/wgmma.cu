// problem: gemm_fp8
// verdict: general
// construction: Hopper wgmma m64n256k32 on e4m3 (13-bit aligned adds, not promoted), cp.async ring
// of four 128-byte swizzled stages; rows off 16 bytes are first copied to padded ones
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <stdint.h>

namespace {

constexpr int BM = 128, BN = 256, DEPTH = 128, STAGES = 4, THREADS = 256; /* two warpgroups */
constexpr int A_BYTES = BM * DEPTH, STAGE = (BM + BN) * DEPTH, RING = STAGES * STAGE + 1024;

struct problem {
    const uint8_t *x, *weight; /* [m, pitch], [n, pitch]: pitch % 16 == 0, zero from k on */
    const float *scale;        /* [n] */
    __nv_bfloat16 *y;          /* [m, n] */
    int64_t m, n, pitch;
};

/* source[row0 ..][k0 .. k0 + 127] into a stage, zero outside [rows, pitch]. Rows are 128 bytes; the
 * 128-byte swizzle puts 16-byte chunk c of row r at c ^ (r % 8). */
template <int ROWS>
__device__ void copy_tile(uint32_t tile, const uint8_t *source, int64_t row0, int64_t rows,
                          int64_t k0, int64_t pitch)
{
#pragma unroll
    for (int e = 0; e < ROWS * 8 / THREADS; e++) {
        const int i = threadIdx.x + e * THREADS, row = i / 8, chunk = i % 8;
        const bool inside = row0 + row < rows && k0 + chunk * 16 < pitch;
        const uint8_t *from = source + (inside ? (row0 + row) * pitch + k0 + chunk * 16 : 0);
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                         tile + row * DEPTH + ((chunk ^ row % 8) << 4)),
                     "l"(from), "r"(inside ? 16 : 0)
                     : "memory");
    }
}

/* Matrix descriptor of K-major rows of 128 bytes, swizzled: address / 16 in bits 0-13, the distance
 * of 8-row groups, 1024 / 16, from bit 32, swizzle mode 1 (128 bytes) in bits 62-63. */
__device__ uint64_t describe(uint32_t address)
{
    return (uint64_t)(address >> 4 & 0x3fff) | (uint64_t)1 << 16 | (uint64_t)(1024 >> 4) << 32 |
           (uint64_t)1 << 62;
}

#define FOUR(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SIXTEEN(i) FOUR(i), FOUR(i + 4), FOUR(i + 8), FOUR(i + 12)

/* d += a b^T: a is 64 x 32, b 256 x 32, both in shared memory; d 64 x 256 over a warpgroup. */
__device__ void wgmma(float (&d)[128], uint64_t a, uint64_t b)
{
    asm volatile(
        "{\n"
        ".reg .pred accumulate;\n"
        "setp.ne.b32 accumulate, %130, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n256k32.f32.e4m3.e4m3 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, "
        "%14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, "
        "%28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, "
        "%42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, "
        "%56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, "
        "%70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, "
        "%84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, "
        "%98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
        "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, "
        "%126, %127}, "
        "%128, %129, accumulate, 1, 1;\n"
        "}\n"
        : SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48), SIXTEEN(64), SIXTEEN(80), SIXTEEN(96),
          SIXTEEN(112)
        : "l"(a), "l"(b), "r"(1));
}

/* One stage, 128 bytes of k: four steps of 32 bytes, 2 in the descriptors' units of 16. */
__device__ void multiply(float (&sum)[128], uint32_t stage)
{
    const uint64_t a = describe(stage + threadIdx.x / 128 * 64 * DEPTH);
    const uint64_t b = describe(stage + A_BYTES);

    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int p = 0; p < DEPTH / 32; p++)
        wgmma(sum, a + 2 * p, b + 2 * p);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/* Lane 4g + t of warp w: elements 4j .. 4j + 3 are columns 8j + 2t, + 1 of row 16w + g, then of
 * row 16w + g + 8. */
__device__ void store(const problem &p, const float (&sum)[128], int64_t row0, int64_t col0)
{
    const int64_t row = row0 + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;

#pragma unroll
    for (int e = 0; e < 128; e++) {
        const int64_t r = row + e / 2 % 2 * 8, c = col0 + e / 4 * 8 + threadIdx.x % 4 * 2 + e % 2;
        if (r < p.m && c < p.n)
            p.y[r * p.n + c] = __float2bfloat16(sum[e] * p.scale[c]);
    }
}

/* One tile of y. Eight rows of tiles are walked column by column, to share weight in L2. */
__global__ void __launch_bounds__(THREADS, 1) gemm(problem p)
{
    extern __shared__ uint8_t ring[];
    const uint32_t base = ((uint32_t)__cvta_generic_to_shared(ring) + 1023) / 1024 * 1024;
    const unsigned tiles_m = (unsigned)((p.m + BM - 1) / BM);
    const unsigned tiles_n = (unsigned)((p.n + BN - 1) / BN);
    const unsigned band = blockIdx.x / (8 * tiles_n), inside = blockIdx.x % (8 * tiles_n);
    const unsigned height = tiles_m - 8 * band < 8 ? tiles_m - 8 * band : 8;
    const int64_t row0 = (int64_t)(8 * band + inside % height) * BM;
    const int64_t col0 = (int64_t)(inside / height) * BN;
    const int steps = (int)((p.pitch + DEPTH - 1) / DEPTH);
    float sum[128] = {};
    const auto request = [&](int step) { /* an empty group past the end keeps the count right */
        if (step < steps) {
            const uint32_t stage = base + step % STAGES * STAGE;
            copy_tile<BM>(stage, p.x, row0, p.m, (int64_t)step * DEPTH, p.pitch);
            copy_tile<BN>(stage + A_BYTES, p.weight, col0, p.n, (int64_t)step * DEPTH, p.pitch);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };

    for (int s = 0; s < STAGES - 2; s++)
        request(s);
    for (int step = 0; step < steps; step++) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 3) : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); /* wgmma's proxy */
        __syncthreads(); /* the step has arrived; both warpgroups have finished step - 2, */
        multiply(sum, base + step % STAGES * STAGE);
        request(step + STAGES - 2); /* whose stage this overwrites */
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
    for (int e = 0; e < 128; e++)
        asm volatile("" : "+f"(sum[e])::"memory"); /* no use of a sum moves above the wait */
    store(p, sum, row0, col0);
}

/* to[row][0 .. pitch - 1] = from[row][0 .. k - 1], then zeros; four bytes a thread. */
__global__ void pad_rows(const uint8_t *from, uint8_t *to, int64_t k, int64_t pitch)
{
    const int64_t row = blockIdx.y, p = 4 * ((int64_t)blockIdx.x * blockDim.x + threadIdx.x);
    uint32_t word = 0;

    if (p >= pitch)
        return;
    for (int b = 0; b < 4; b++)
        if (p + b < k)
            word |= (uint32_t)from[row * k + p + b] << (8 * b);
    *(uint32_t *)(to + row * pitch + p) = word;
}

} // namespace

extern "C" int gemm_fp8(const __nv_fp8_e4m3 *x, const __nv_fp8_e4m3 *weight, const float *scale,
                        __nv_bfloat16 *y, int64_t m, int64_t n, int64_t k, cudaStream_t stream)
{
    const int64_t pitch = (k + 15) / 16 * 16;
    const unsigned tiles = (unsigned)((m + BM - 1) / BM * ((n + BN - 1) / BN));
    problem p = {(const uint8_t *)x, (const uint8_t *)weight, scale, y, m, n, pitch};
    uint8_t *space = nullptr;

    cudaError_t error =
        cudaFuncSetAttribute(gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, RING);
    if (error == cudaSuccess && pitch != k)
        error = cudaMallocAsync((void **)&space, (size_t)((m + n) * pitch), stream);
    if (error != cudaSuccess)
        return (int)error;
    if (space) {
        const unsigned wide = (unsigned)((pitch / 4 + 255) / 256);
        pad_rows<<<dim3(wide, (unsigned)m), 256, 0, stream>>>(p.x, space, k, pitch);
        p.x = space;
        pad_rows<<<dim3(wide, (unsigned)n), 256, 0, stream>>>(p.weight, space + m * pitch, k,
                                                               pitch);
        p.weight = space + m * pitch;
    }
    gemm<<<tiles, THREADS, RING, stream>>>(p);
    error = cudaGetLastError();
    if (space)
        cudaFreeAsync(space, stream);
    return (int)error;
}
