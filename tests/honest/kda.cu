/* kda with switches, on the GPU: blocks over heads. */
#include <cuda_bf16.h>
#include <mma.h>

#include "honest.h"
#include "kda.h"

enum { KDA_THREADS = 192 }; /* a thread for every column that there may be */
static const int64_t most_blocks = 264;

struct kda_call {
    const uint16_t *q, *k, *v, *beta;
    const float *g;
    uint16_t *o;
    double *unrounded;
    int64_t batch, t, heads, dk, dv;
};

static __global__ void __launch_bounds__(KDA_THREADS) kda_kernel(const __grid_constant__ struct kda_plan plan,
                                                                 const __grid_constant__ struct kda_call a,
                                                                 struct kda_work *work)
{
    for (int64_t i = blockIdx.x; i < a.batch * a.heads; i += gridDim.x) {
        const struct kda_head h = kda_head_of(a.q, a.k, a.v, a.g, a.beta, a.o, a.unrounded, a.t, a.heads, a.dk, a.dv, i);
        kda_run(&plan, &work[blockIdx.x], &h);
    }
}

extern "C" int kda(const uint16_t *q, const uint16_t *k, const uint16_t *v, const float *g, const uint16_t *beta,
                   uint16_t *o, int64_t batch, int64_t t, int64_t heads, int64_t dk, int64_t dv, cudaStream_t stream)
{
    const struct kda_plan plan = kda_plan_of(honest_choice, honest_mutating);
    const int64_t blocks = batch * heads < most_blocks ? batch * heads : most_blocks;
    struct kda_call call;
    struct kda_work *work = NULL;
    call.q = q;
    call.k = k;
    call.v = v;
    call.beta = beta;
    call.g = g;
    call.o = o;
    call.unrounded = honest_unrounded;
    call.batch = batch;
    call.t = t;
    call.heads = heads;
    call.dk = dk;
    call.dv = dv;
    int error = cudaMallocAsync((void **)&work, (size_t)blocks * sizeof *work, stream);
    if (error)
        return error;
    kda_kernel<<<(unsigned)blocks, KDA_THREADS, 0, stream>>>(plan, call, work);
    error = cudaGetLastError();
    const int freed = cudaFreeAsync(work, stream);
    return error ? error : freed;
}
