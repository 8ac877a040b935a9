// problem: kda
// verdict: general
// construction: chunks of 64 tokens in the UT transform on bf16 mma.sync; one kernel prepares all
//   chunks at once, a second one carries 16 columns of a head's state from chunk to chunk
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>

namespace {

typedef __nv_bfloat16 bf16;

constexpr int CHUNK = 64, BLOCK = 16, BLOCKS = CHUNK / BLOCK, SLICE = 16; /* SLICE columns of S */
constexpr int PREPARE_THREADS = 256, PREPARE_WARPS = 8, SCAN_THREADS = 128, PAD = 8;
constexpr int PAIRS = BLOCK * (BLOCK + 1) / 2; /* (i, j), j <= i, of a block */

/* G_i is the sum of g over tokens 0..i of a chunk, A_ij = beta_i k_i . e^(G_i - G_j) k_j below the
 * diagonal, S the state before the chunk. The tokens of the chunk write V' = (I + A)^-1 diag(beta)
 * (V - (e^G k) S) = U - W S. Then o = Q S + P V' and S <- e^(G_last) S + D V'. Rows are padded by
 * 16 bytes, so the eight rows of a fragment lie in different banks; scan copies a chunk as it
 * is. */
template <int K> struct Operands {
    bf16 W[CHUNK][K + PAD];
    bf16 Q[CHUNK][K + PAD];     /* K^-1/2 e^G q */
    bf16 D[K][CHUNK + PAD];     /* e^(G_last - G) k, transposed */
    bf16 P[CHUNK][CHUNK + PAD]; /* K^-1/2 q_i . e^(G_i - G_j) k_j; unset above diagonal blocks */
    float keep[K];              /* e^(G_last) */
};

struct Values {
    float U[SLICE][CHUNK + 4]; /* transposed */
};

struct Args {
    const bf16 *q, *k, *v;
    const float *g;
    const bf16 *beta;
    bf16 *o;
    int64_t t, heads, chunks; /* rows of a head are `heads` rows apart */
    int64_t first;            /* head of this launch */
    int dv;
    void *operands; /* Operands<K>[head][chunk] */
    Values *values; /* [head][chunk][slice] */
};

/* Lane (g, c) = (l / 4, l % 4) holds these elements. Of A: a0 (g, 2c..), a1 (g + 8, 2c..), a2 (g,
 * 2c + 8..) and a3 (g + 8, 2c + 8..). Of B: b0 (2c.., g), b1 (2c + 8.., g). Of C: c0, c1 (g, 2c..)
 * and c2, c3 (g + 8, 2c..). */
__device__ void mma(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ uint32_t word(const bf16 *p)
{
    return *reinterpret_cast<const uint32_t *>(p);
}

__device__ uint32_t pair(bf16 low, bf16 high)
{
    return __bfloat16_as_ushort(low) | (uint32_t)__bfloat16_as_ushort(high) << 16;
}

__device__ uint32_t pair(float low, float high)
{
    return pair(__float2bfloat16(low), __float2bfloat16(high));
}

/* Fragment of A at rows 0..15 and columns d..d + 15 of row-major x. */
template <int PITCH>
__device__ void load_rows(uint32_t (&a)[4], const bf16 (*x)[PITCH], int d)
{
    const int g = threadIdx.x % 32 / 4, c = threadIdx.x % 4;
#pragma unroll
    for (int r = 0; r < 4; r++)
        a[r] = word(&x[g + r % 2 * 8][d + 2 * c + r / 2 * 8]);
}

template <int K> struct Workspace {
    float G[CHUNK][K + 4]; /* later, with q: rows of v, dv + PAD apart */
    bf16 q[CHUNK][K + PAD];
    bf16 k[CHUNK][K + PAD]; /* later e^G k */
    float A[CHUNK][CHUNK + 4];       /* later (I + A)^-1 diag(beta) in bf16, CHUNK + PAD apart */
    float inverse[CHUNK][CHUNK + 4]; /* blocks above the diagonal are never set */
    float beta[CHUNK];
};

/* Tokens from `count` on have k, q, g and beta 0: they change nothing. */
template <int K> __device__ void stage(Workspace<K> &w, const Args &a, int64_t row, int count)
{
    const uint4 zero = {0, 0, 0, 0};

    for (int e = threadIdx.x; e < CHUNK * K / 8; e += PREPARE_THREADS) {
        const int i = e / (K / 8), d = e % (K / 8) * 8;
        const int64_t at = (row + i * a.heads) * K + d;
        *(uint4 *)&w.q[i][d] = i < count ? *(const uint4 *)(a.q + at) : zero;
        *(uint4 *)&w.k[i][d] = i < count ? *(const uint4 *)(a.k + at) : zero;
        *(uint4 *)&w.G[i][d] = i < count ? *(const uint4 *)(a.g + at) : zero;
        *(uint4 *)&w.G[i][d + 4] = i < count ? *(const uint4 *)(a.g + at + 4) : zero;
    }
    if (threadIdx.x < CHUNK)
        w.beta[threadIdx.x] =
            threadIdx.x < count ? __bfloat162float(a.beta[row + threadIdx.x * a.heads]) : 0;
    __syncthreads();
    if (threadIdx.x < K)
        for (int i = 1; i < CHUNK; i++)
            w.G[i][threadIdx.x] += w.G[i - 1][threadIdx.x];
    __syncthreads();
}

/* A and P left of the diagonal blocks. e^(G_i - G_j) is split at the token before the rows' block:
 * with decay neither factor exceeds 1, and with growth neither exceeds all of it. A warp takes
 * 8 columns of one block of rows; there are 2, 4 and 6 such for blocks 1, 2 and 3. */
template <int K> __device__ void score_left(Workspace<K> &w, Operands<K> &to, float scale)
{
    const int g = threadIdx.x % 32 / 4, c = threadIdx.x % 4;

    for (int item = threadIdx.x / 32; item < 12; item += PREPARE_WARPS) {
        const int block = item < 2 ? 1 : item < 6 ? 2 : 3, first = BLOCK * block;
        const int column = 8 * (item - block * (block - 1));
        const float *split = w.G[first - 1];
        float kk[4] = {}, qk[4] = {};
#pragma unroll 2
        for (int d0 = 0; d0 < K; d0 += 16) {
            uint32_t k[4], q[4], b[2];
#pragma unroll
            for (int r = 0; r < 4; r++) {
                const int i = first + g + r % 2 * 8, d = d0 + 2 * c + r / 2 * 8;
                const float x = __expf(w.G[i][d] - split[d]);
                const float y = __expf(w.G[i][d + 1] - split[d + 1]);
                k[r] = pair(__bfloat162float(w.k[i][d]) * x, __bfloat162float(w.k[i][d + 1]) * y);
                q[r] = pair(__bfloat162float(w.q[i][d]) * x, __bfloat162float(w.q[i][d + 1]) * y);
            }
#pragma unroll
            for (int r = 0; r < 2; r++) {
                const int j = column + g, d = d0 + 2 * c + r * 8;
                const float x = __expf(split[d] - w.G[j][d]);
                const float y = __expf(split[d + 1] - w.G[j][d + 1]);
                b[r] = pair(__bfloat162float(w.k[j][d]) * x, __bfloat162float(w.k[j][d + 1]) * y);
            }
            mma(kk, k, b[0], b[1]);
            mma(qk, q, b[0], b[1]);
        }
        for (int r = 0; r < 4; r++) {
            const int i = first + g + r / 2 * 8, j = column + 2 * c + r % 2;
            w.A[i][j] = w.beta[i] * kk[r];
            to.P[i][j] = __float2bfloat16(scale * qk[r]);
        }
    }
}

/* The diagonal blocks, one pair j <= i a thread, in fp32: no token lies between all i and all j.
 * Rows r and 15 - r of a block have 17 pairs together. */
template <int K> __device__ void score_diagonal(Workspace<K> &w, Operands<K> &to, float scale)
{
    for (int p = threadIdx.x; p < BLOCKS * PAIRS; p += PREPARE_THREADS) {
        const int first = p / PAIRS * BLOCK, r = p % PAIRS / 17, c = p % PAIRS % 17;
        const int i = first + (c <= r ? r : 15 - r), j = first + (c <= r ? c : c - r - 1);
        float kk = 0, qk = 0;
#pragma unroll 4
        for (int d = 0; d < K; d++) {
            const float x = __bfloat162float(w.k[j][d]) * __expf(w.G[i][d] - w.G[j][d]);
            kk += __bfloat162float(w.k[i][d]) * x;
            qk += __bfloat162float(w.q[i][d]) * x;
        }
        w.A[i][j] = w.beta[i] * kk;
        to.P[i][j] = __float2bfloat16(scale * qk);
        if (i != j)
            to.P[j][i] = __float2bfloat16(0);
    }
}

/* (I + A)^-1 by forward substitution: in the diagonal blocks one column a thread, then, block
 * diagonal by block diagonal, X_IJ = -X_II sum_M A_IM X_MJ, one element of a block a thread. */
template <int K> __device__ void invert(Workspace<K> &w)
{
    const int r = threadIdx.x / BLOCK, c = threadIdx.x % BLOCK;

    if (threadIdx.x < CHUNK) {
        const int first = r * BLOCK;
        float x[BLOCK];
#pragma unroll
        for (int i = 0; i < BLOCK; i++) {
            x[i] = i == c;
#pragma unroll
            for (int m = 0; m < i; m++)
                x[i] -= w.A[first + i][first + m] * x[m];
            w.inverse[first + i][first + c] = x[i];
        }
    }
    for (int distance = 1; distance < BLOCKS; distance++) {
        float x[BLOCKS] = {};
        __syncthreads();
        for (int block = distance; block < BLOCKS; block++) {
            const int i = block * BLOCK, j = i - distance * BLOCK;
            float sum = 0;
            for (int m = j; m < i; m++)
                sum += w.A[i + r][m] * w.inverse[m][j + c];
            w.inverse[i + r][j + c] = sum;
        }
        __syncthreads();
#pragma unroll
        for (int block = 1; block < BLOCKS; block++) {
            const int i = block * BLOCK, j = i - distance * BLOCK;
            for (int m = 0; m < BLOCK && j >= 0; m++)
                x[block] -= w.inverse[i + r][i + m] * w.inverse[i + m][j + c];
        }
        __syncthreads();
#pragma unroll
        for (int block = 1; block < BLOCKS; block++)
            if (block >= distance)
                w.inverse[block * BLOCK + r][(block - distance) * BLOCK + c] = x[block];
    }
}

/* The elementwise results. A warp writes D 16 tokens by 4 channels at a time. */
template <int K> __device__ void finish_keys(Workspace<K> &w, Operands<K> &to, float scale)
{
    const int lane = threadIdx.x % 32;

    for (int e = threadIdx.x / 32; e < BLOCKS * K / 4; e += PREPARE_WARPS) {
        const int i = e % BLOCKS * BLOCK + lane % 8 * 2, d = e / BLOCKS * 4 + lane / 8;
        const float last = w.G[CHUNK - 1][d];
        *(uint32_t *)&to.D[d][i] =
            pair(__bfloat162float(w.k[i][d]) * __expf(last - w.G[i][d]),
                 __bfloat162float(w.k[i + 1][d]) * __expf(last - w.G[i + 1][d]));
    }
    if (threadIdx.x < K)
        to.keep[threadIdx.x] = __expf(w.G[CHUNK - 1][threadIdx.x]);
    __syncthreads(); /* k is overwritten */
    for (int e = threadIdx.x; e < CHUNK * K / 2; e += PREPARE_THREADS) {
        const int i = e / (K / 2), d = e % (K / 2) * 2;
        const float x = __expf(w.G[i][d]), y = __expf(w.G[i][d + 1]);
        *(uint32_t *)&to.Q[i][d] = pair(scale * __bfloat162float(w.q[i][d]) * x,
                                        scale * __bfloat162float(w.q[i][d + 1]) * y);
        *(uint32_t *)&w.k[i][d] =
            pair(__bfloat162float(w.k[i][d]) * x, __bfloat162float(w.k[i][d + 1]) * y);
    }
    __syncthreads();
}

/* Rows 16 block .. of inverse x, columns n .. n + 7; the inverse is zero right of the diagonal. */
__device__ void multiply(float (&sum)[4], const bf16 (*inverse)[CHUNK + PAD], int block,
                         const bf16 *x, int pitch, int n)
{
    const int g = threadIdx.x % 32 / 4, c = threadIdx.x % 4;

    for (int j = 0; j <= block * BLOCK; j += BLOCK) {
        const bf16 *b = x + (j + 2 * c) * pitch + n + g;
        uint32_t a[4];
        load_rows<CHUNK + PAD>(a, inverse + block * BLOCK, j);
        mma(sum, a, pair(b[0], b[pitch]), pair(b[8 * pitch], b[9 * pitch]));
    }
}

template <int K> __global__ void __launch_bounds__(PREPARE_THREADS) prepare(Args a)
{
    extern __shared__ __align__(128) unsigned char memory[];
    Workspace<K> &w = *reinterpret_cast<Workspace<K> *>(memory);
    const int warp = threadIdx.x / 32, block = warp % BLOCKS, c = threadIdx.x % 4;
    const int pitch = a.dv + PAD, i = block * BLOCK + threadIdx.x % 32 / 4;
    const int64_t head = a.first + blockIdx.x / a.chunks, chunk = blockIdx.x % a.chunks;
    const int64_t t = chunk * CHUNK, row = (head / a.heads * a.t + t) * a.heads + head % a.heads;
    const int count = a.t - t < CHUNK ? (int)(a.t - t) : CHUNK;
    const float scale = 1.0f / sqrtf((float)K);
    Operands<K> &to = static_cast<Operands<K> *>(a.operands)[blockIdx.x];
    Values *values = a.values + (int64_t)blockIdx.x * (a.dv / SLICE);

    stage(w, a, row, count);
    score_left(w, to, scale);
    score_diagonal(w, to, scale);
    __syncthreads();
    invert(w);
    finish_keys(w, to, scale); /* its barriers also part the last use of A from what follows */

    bf16(*inverse)[CHUNK + PAD] = reinterpret_cast<bf16(*)[CHUNK + PAD]>(w.A);
    bf16 *v = reinterpret_cast<bf16 *>(w.G); /* G and q have been used up */
    for (int e = threadIdx.x; e < CHUNK * CHUNK; e += PREPARE_THREADS)
        if (e % CHUNK / BLOCK <= e / CHUNK / BLOCK)
            inverse[e / CHUNK][e % CHUNK] =
                __float2bfloat16(w.inverse[e / CHUNK][e % CHUNK] * w.beta[e % CHUNK]);
    for (int e = threadIdx.x; e < CHUNK * a.dv / 8; e += PREPARE_THREADS) {
        const int j = e / (a.dv / 8), d = e % (a.dv / 8) * 8;
        const uint4 zero = {0, 0, 0, 0};
        *(uint4 *)(v + j * pitch + d) =
            j < count ? *(const uint4 *)(a.v + (row + j * a.heads) * a.dv + d) : zero;
    }
    __syncthreads();
    for (int n = warp / BLOCKS * 8; n < K; n += 16) {
        float sum[4] = {};
        multiply(sum, inverse, block, &w.k[0][0], K + PAD, n);
        *(uint32_t *)&to.W[i][n + 2 * c] = pair(sum[0], sum[1]);
        *(uint32_t *)&to.W[i + 8][n + 2 * c] = pair(sum[2], sum[3]);
    }
    for (int n = warp / BLOCKS * 8; n < a.dv; n += 16) {
        float sum[4] = {};
        multiply(sum, inverse, block, v, pitch, n);
        for (int r = 0; r < 4; r++) {
            const int column = n + 2 * c + r % 2;
            values[column / SLICE].U[column % SLICE][i + r / 2 * 8] = sum[r];
        }
    }
}

template <int K> struct Stage {
    Operands<K> operands;
    Values values;
};

template <int K> struct Shared {
    Stage<K> stage[2];
    bf16 S[SLICE][K + PAD]; /* transposed, as an operand */
    bf16 V[SLICE][CHUNK + PAD]; /* V', transposed */
    bf16 o[CHUNK][SLICE + PAD];
    uint64_t arrived[2];
};

__device__ uint32_t shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

/* Sizes and addresses are multiples of 16; the copy reports its bytes to `arrived`. */
__device__ void copy_bulk(void *to, const void *from, uint32_t bytes, uint64_t *arrived)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(shared_address(to)),
                 "l"(from), "r"(bytes), "r"(shared_address(arrived))
                 : "memory");
}

/* One thread: begins the copy of chunk n of the block's head. */
template <int K> __device__ void request(Shared<K> &sh, const Args &a, int64_t n)
{
    const int64_t at = blockIdx.x * a.chunks + n;
    const Operands<K> *operands = static_cast<const Operands<K> *>(a.operands) + at;
    const Values *values = a.values + at * (a.dv / SLICE) + blockIdx.y;
    Stage<K> &stage = sh.stage[n % 2];
    uint64_t *arrived = &sh.arrived[n % 2];

    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                     shared_address(arrived)),
                 "r"((uint32_t)(sizeof *operands + sizeof *values))
                 : "memory");
    copy_bulk(&stage.operands, operands, sizeof *operands, arrived);
    copy_bulk(&stage.values, values, sizeof *values, arrived);
}

__device__ void wait(uint64_t *arrived, uint32_t parity)
{
    uint32_t done = 0;
    while (!done)
        asm volatile("{\n.reg .pred p;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, p;\n}"
                     : "=r"(done)
                     : "r"(shared_address(arrived)), "r"(parity)
                     : "memory");
}

/* V' and the part of o that comes from S, both transposed, for the warp's 16 tokens: S^T is the
 * A operand of both, and the products come out as [column][token]. */
template <int K>
__device__ void read_state(const Shared<K> &sh, const Stage<K> &in, float (&x)[2][4],
                           float (&o)[2][4])
{
    const int g = threadIdx.x % 32 / 4, c = threadIdx.x % 4, token = threadIdx.x / 32 * 16;

#pragma unroll
    for (int d = 0; d < K; d += 16) {
        uint32_t a[4];
        load_rows<K + PAD>(a, sh.S, d);
#pragma unroll
        for (int n = 0; n < 2; n++) {
            const bf16 *W = &in.operands.W[token + 8 * n + g][d + 2 * c];
            const bf16 *Q = &in.operands.Q[token + 8 * n + g][d + 2 * c];
            mma(x[n], a, word(W), word(W + 8));
            mma(o[n], a, word(Q), word(Q + 8));
        }
    }
#pragma unroll
    for (int n = 0; n < 2; n++)
#pragma unroll
        for (int r = 0; r < 4; r++)
            x[n][r] = in.values.U[g + r / 2 * 8][token + 8 * n + 2 * c + r % 2] - x[n][r];
}

/* o += P V' for the warp's tokens, S <- e^(G_last) S + D V' for its channels, transposed. */
template <int K>
__device__ void add_values(const Shared<K> &sh, const Stage<K> &in, float (&o)[2][4],
                           float (&state)[K / 32][4])
{
    const int g = threadIdx.x % 32 / 4, c = threadIdx.x % 4, warp = threadIdx.x / 32;

#pragma unroll
    for (int n = 0; n < K / 32; n++)
#pragma unroll
        for (int r = 0; r < 4; r++)
            state[n][r] *= in.operands.keep[warp * (K / 4) + 8 * n + 2 * c + r % 2];
#pragma unroll
    for (int j = 0; j < BLOCKS; j++) {
        uint32_t a[4];
        load_rows<CHUNK + PAD>(a, sh.V, j * BLOCK);
#pragma unroll
        for (int n = 0; n < 2; n++) {
            const bf16 *P = &in.operands.P[warp * 16 + 8 * n + g][j * BLOCK + 2 * c];
            if (j <= warp) /* later tokens give nothing */
                mma(o[n], a, word(P), word(P + 8));
        }
#pragma unroll
        for (int n = 0; n < K / 32; n++) {
            const bf16 *D = &in.operands.D[warp * (K / 4) + 8 * n + g][j * BLOCK + 2 * c];
            mma(state[n], a, word(D), word(D + 8));
        }
    }
}

/* The warp's 16 tokens by 16 columns, through shared memory: half a token's row a lane. */
template <int K>
__device__ void store(Shared<K> &sh, const Args &a, const float (&o)[2][4], int64_t row, int count)
{
    const int lane = threadIdx.x % 32, token = threadIdx.x / 32 * 16, mine = token + lane / 2;

    for (int n = 0; n < 2; n++)
        for (int r = 0; r < 4; r++)
            sh.o[token + 8 * n + lane % 4 * 2 + r % 2][lane / 4 + r / 2 * 8] =
                __float2bfloat16(o[n][r]);
    __syncwarp();
    if (mine < count)
        *(uint4 *)(a.o + (row + mine * a.heads) * a.dv + blockIdx.y * SLICE + lane % 2 * 8) =
            *(const uint4 *)&sh.o[mine][lane % 2 * 8];
}

/* A warp keeps a quarter of the channels of S in registers and works out 16 tokens of a chunk. */
template <int K> __global__ void __launch_bounds__(SCAN_THREADS) scan(Args a)
{
    extern __shared__ __align__(128) unsigned char memory[];
    Shared<K> &sh = *reinterpret_cast<Shared<K> *>(memory);
    const int g = threadIdx.x % 32 / 4, c = threadIdx.x % 4, warp = threadIdx.x / 32;
    const int64_t head = a.first + blockIdx.x;
    int64_t row = head / a.heads * a.t * a.heads + head % a.heads;
    float state[K / 32][4] = {};

    if (threadIdx.x == 0) {
        for (int s = 0; s < 2; s++)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(
                             shared_address(&sh.arrived[s]))
                         : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        request(sh, a, 0);
    }
    __syncthreads();
    for (int64_t n = 0; n < a.chunks; n++, row += CHUNK * a.heads) {
        const Stage<K> &in = sh.stage[n % 2];
        const int64_t left = a.t - n * CHUNK;
        float x[2][4] = {}, o[2][4] = {};
        for (int m = 0; m < K / 32; m++)
            for (int r = 0; r < 4; r += 2)
                *(uint32_t *)&sh.S[g + r / 2 * 8][warp * (K / 4) + 8 * m + 2 * c] =
                    pair(state[m][r], state[m][r + 1]);
        wait(&sh.arrived[n % 2], n / 2 % 2);
        __syncthreads(); /* S is there; all are done with the chunk before, whose place is free */
        if (threadIdx.x == 0 && n + 1 < a.chunks)
            request(sh, a, n + 1);
        read_state(sh, in, x, o);
        for (int m = 0; m < 2; m++)
            for (int r = 0; r < 4; r += 2)
                *(uint32_t *)&sh.V[g + r / 2 * 8][warp * 16 + 8 * m + 2 * c] =
                    pair(x[m][r], x[m][r + 1]);
        __syncthreads();
        add_values(sh, in, o, state);
        store(sh, a, o, row, left < CHUNK ? (int)left : CHUNK);
    }
}

/* As many heads at a time as 1 GiB of operands allows. */
template <int K> cudaError_t run(Args a, int64_t all_heads, cudaStream_t stream)
{
    const int64_t slices = a.dv / SLICE, most = (int64_t)1 << 30;
    const int64_t each = a.chunks * (int64_t)(sizeof(Operands<K>) + slices * sizeof(Values));
    const int64_t fit = most / each < 1 ? 1 : most / each;
    const int64_t group = fit < all_heads ? fit : all_heads;
    unsigned char *space = nullptr;

    cudaError_t error = cudaFuncSetAttribute(
        prepare<K>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)sizeof(Workspace<K>));
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute(scan<K>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     (int)sizeof(Shared<K>));
    if (error == cudaSuccess)
        error = cudaMallocAsync((void **)&space, group * each, stream);
    if (error != cudaSuccess)
        return error;
    a.operands = space;
    a.values = (Values *)(space + group * a.chunks * sizeof(Operands<K>));
    for (a.first = 0; a.first < all_heads; a.first += group) {
        const int64_t heads = all_heads - a.first < group ? all_heads - a.first : group;
        const dim3 grid((unsigned)heads, (unsigned)slices);
        prepare<K><<<(unsigned)(heads * a.chunks), PREPARE_THREADS, sizeof(Workspace<K>), stream>>>(
            a);
        scan<K><<<grid, SCAN_THREADS, sizeof(Shared<K>), stream>>>(a);
    }
    error = cudaGetLastError();
    cudaFreeAsync(space, stream);
    return error;
}

} // namespace

extern "C" int kda(const bf16 *q, const bf16 *k, const bf16 *v, const float *g, const bf16 *beta,
                   bf16 *o, int64_t batch, int64_t t, int64_t heads, int64_t dk, int64_t dv,
                   cudaStream_t stream)
{
    const Args a = {q, k, v, g, beta, o, t, heads, (t + CHUNK - 1) / CHUNK, 0, (int)dv, nullptr,
                    nullptr};

    return (int)(dk == 64    ? run<64>(a, batch * heads, stream)
                 : dk == 96  ? run<96>(a, batch * heads, stream)
                 : dk == 128 ? run<128>(a, batch * heads, stream)
                             : run<192>(a, batch * heads, stream));
}
