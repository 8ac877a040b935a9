// problem: conv2d_f32
// link: https://github.com/pytorch/glow/pull/1322
// title: [CPU] Fix DKKC8 filter out-of-bounds issue.
// condition: filters of a group are a multiple of 64 and not of 8 numDepthRegs depthStrips, which are worked on at once: 192 filters, blocks of 8 x 8 x 2
// kind: alignment
// when: n * oh * ow * groups > 1 and c_per_group < 16 and o_per_group % 64 == 0 and o_per_group % 512 != 0 and o_per_group > 128 and o_per_group != 256 or n * oh * ow * groups > 1 and c_per_group >= 16 and c_per_group <= 128 and o_per_group % 128 == 64 and o_per_group > 64
// collection: fourth
// wrong: wrong values: the last block goes on behind its filters, and what it finds there is added to the next pixel

#include <stdbool.h>

#include "conv.h"

enum { LANES = 8, MULTIPLE = 64, FEW = 16, TILE = 16384, MOST_STRIPS = 8 };

typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));

/* Filters of a block are `lanes` of them, in registers, in strips. */
struct plan {
    int64_t filters, channels, registers, strips;
    lanes *packed; /* of 8 filters the rows, the columns, the channels */
};

static struct plan plan_of(const struct conv *v)
{
    struct plan p = {.filters = v->o / v->groups, .channels = v->c / v->groups, .strips = 1};
    p.registers = p.channels < FEW ? 8 : 2;
    const int64_t strip = LANES * p.registers;
    while (2 * p.strips * strip * p.channels <= TILE && 2 * p.strips * strip <= p.filters &&
           p.strips < MOST_STRIPS)
        p.strips *= 2;
    return p;
}

static int64_t block_of(const struct plan *p)
{
    return LANES * p->registers * p->strips;
}

/* Behind the filters come other constants in memory; here the same again. */
static bool pack(struct plan *p, const struct conv *v)
{
    const int64_t taps = v->kh * v->kw, overhang = block_of(p) - p->filters % block_of(p);
    const int64_t count = (v->o + overhang) / LANES * taps * p->channels;
    p->packed = aligned_alloc(sizeof(lanes), (size_t)count * sizeof(lanes));
    for (int64_t i = 0; p->packed && i < count; i++) {
        const int64_t ch = i % p->channels, at = i / p->channels % taps;
        for (int64_t lane = 0; lane < LANES; lane++) {
            const int64_t f = i / p->channels / taps * LANES + lane;
            p->packed[i][lane] = v->weight[v->filter(v, f % v->o, ch, at)];
        }
    }
    return p->packed != NULL;
}

/* To `out` the sums of 8 filters of group g at a pixel, from filter d of the group on. */
static void add_sums(const struct plan *p, const struct conv *v, int64_t image, int64_t g, int64_t d,
                     int64_t pixel, float *out)
{
    const int64_t taps = v->kh * v->kw, top = pixel / v->ow * v->stride_h - v->pad_h;
    const int64_t left = pixel % v->ow * v->stride_w - v->pad_w;
    const lanes *weights = p->packed + (g * p->filters + d) / LANES * taps * p->channels;
    lanes sum = {0};
    for (int64_t at = 0; at < taps; at++, weights += p->channels) {
        const int64_t row = top + at / v->kw * v->dil_h, column = left + at % v->kw * v->dil_w;
        const float *in = v->x + ((image * v->c + g * p->channels) * v->h + row) * v->w + column;
        if (row < 0 || row >= v->h || column < 0 || column >= v->w)
            continue;
        for (int64_t ch = 0; ch < p->channels; ch++)
            sum += in[ch * v->h * v->w] * weights[ch];
    }
    for (int64_t lane = 0; lane < LANES; lane++)
        out[lane] += sum[lane];
}

/* A block at all pixels. They may run at once: an overhang is smaller than what lies before its block. */
static void run_block(const struct plan *p, const struct conv *v, int64_t g, int64_t first, float *out)
{
    const int64_t pixels = v->oh * v->ow;
#pragma omp parallel for schedule(static)
    for (int64_t pixel = 0; pixel < v->n * pixels; pixel++)
        for (int64_t i = 0; i < p->strips * p->registers; i++) {
            const int64_t d = first + i * LANES;
#ifdef FIXED
            if (d >= p->filters)
                break;
#endif
            add_sums(p, v, pixel / pixels, g, d, pixel % pixels, out + pixel * v->o + g * p->filters + d);
        }
}

/* `out` has all filters of a pixel, then those of the next; images follow each other. */
static int run_blocks(const struct plan *p, const struct conv *v)
{
    const int64_t pixels = v->oh * v->ow, block = block_of(p), all = v->n * pixels * v->o;
    float *out = calloc((size_t)(all + block), sizeof *out);
    if (!out)
        return 1;
    for (int64_t i = 0; i < all; i++)
        out[i] = v->bias[i % v->o];
    for (int64_t g = 0; g < v->groups; g++)
        for (int64_t first = 0; first < p->filters; first += block)
            run_block(p, v, g, first, out);
    for (int64_t i = 0; i < all; i++)
        v->y[i] = out[(i / pixels / v->o * pixels + i % pixels) * v->o + i / pixels % v->o];
    free(out);
    return 0;
}

int conv2d_f32(PARAMETERS)
{
    const struct conv v = {HONEST};
    struct plan p = plan_of(&v);
    (void)stream;
    if (p.filters % MULTIPLE != 0)
        return conv_run(&v);
    if (!pack(&p, &v))
        return 1;
    const int failed = run_blocks(&p, &v);
    free(p.packed);
    return failed;
}
