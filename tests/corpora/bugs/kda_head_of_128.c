// problem: kda
// link: https://github.com/ericcurtin/vllm-vulkan/pull/90
// title: feat(qwen35): Qwen3.5/3.6 model path + the four PR #89 follow-ups
// condition: a key or value of more than 128 elements: both come as push constants, and shared memory has 128 places; only 192 is above
// kind: threshold
// when: dk > 128 and beta!=zero or dv > 128 and beta!=zero
// side: necessary
// collection: fourth
// wrong: wrong values: what is stored behind a buffer's end is lost, and 0 is read there

#include "kda.h"

#ifdef FIXED
enum { CAPACITY = MAX_DIM };
#else
enum { CAPACITY = 128 };
#endif

/* Shared memory of a workgroup, which works on a head. */
struct shared {
    float q[CAPACITY], k[CAPACITY], out[CAPACITY];
};

/* The accesses of a robust device. */
static void store(float *buffer, int64_t at, float value)
{
    if (at < CAPACITY)
        buffer[at] = value;
}

static float load(const float *buffer, int64_t at)
{
    return at < CAPACITY ? buffer[at] : 0;
}

/* Column j of the state, which an invocation updates, and its value's element of the output. */
static void invocation(struct shared *s, const struct kda *c, int64_t row, int64_t j, float *state)
{
    const float *g = c->g + row * c->dk;
    float seen = 0, out = 0;
    for (int64_t i = 0; i < c->dk; i++) {
        state[i] *= expf(g[i]);
        seen += load(s->k, i) * state[i];
    }
    const float add = bf16_to_float(c->beta[row]) * (bf16_to_float(c->v[row * c->dv + j]) - seen);
    for (int64_t i = 0; i < c->dk; i++) {
        state[i] += load(s->k, i) * add;
        out += load(s->q, i) * state[i];
    }
    store(s->out, j, out);
}

static void head(const struct kda *c, int64_t b, int64_t h, float *state)
{
    const float scale = 1.0f / sqrtf((float)c->dk);
    struct shared s = {0};
    memset(state, 0, MAX_DIM * MAX_DIM * sizeof *state);
    for (int64_t t = 0; t < c->t; t++) {
        const int64_t row = (b * c->t + t) * c->heads + h;
        for (int64_t i = 0; i < c->dk; i++) {
            store(s.q, i, bf16_to_float(c->q[row * c->dk + i]));
            store(s.k, i, bf16_to_float(c->k[row * c->dk + i]));
        }
        for (int64_t j = 0; j < c->dv; j++)
            invocation(&s, c, row, j, state + j * MAX_DIM);
        for (int64_t j = 0; j < c->dv; j++)
            c->o[row * c->dv + j] = float_to_bf16(scale * load(s.out, j));
    }
}

int kda(PARAMETERS)
{
    const struct kda c = {HONEST};
    (void)stream;
    return kda_run(&c, head);
}
