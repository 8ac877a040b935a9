// problem: conv2d_f32
// link: https://github.com/microsoft/onnxruntime/issues/28536
// title: [Web] Conv2DMatMul and matmul-shaders.ts still use raw workgroupId, silently incorrect when NormalizeDispatchGroupSize reshapes
// condition: a dimension of the dispatch has more than 65535 workgroups, as an image of 1536 x 1536 outputs; 63 here. Tiles are 32 pixels by 32 channels
// kind: grid
// when: groups == 1 and oh * ow > 2016 or groups == 1 and o_per_group > 2016 or groups == 1 and n > 63
// side: necessary
// collection: fourth
// wrong: unwritten: the dispatch becomes a square or a cube, and workgroups take their raw number for their tile

#include "conv.h"

enum { TILE = 32, LIMIT = 63 };

/* Workgroups: tiles of pixels, tiles of channels, images. */
struct dispatch {
    int64_t x, y, z;
};

static int64_t root_up(int64_t n, int power)
{
    int64_t root = 1;
    while ((power == 2 ? root * root : root * root * root) < n)
        root++;
    return root;
}

static struct dispatch normalize(struct dispatch d)
{
    const int64_t size = d.x * d.y * d.z;
    if (d.x <= LIMIT && d.y <= LIMIT && d.z <= LIMIT)
        return d;
    if (root_up(size, 2) <= LIMIT)
        return (struct dispatch){root_up(size, 2), root_up(size, 2), 1};
    return (struct dispatch){root_up(size, 3), root_up(size, 3), root_up(size, 3)};
}

/* The tile that a workgroup works on. */
static struct dispatch tile_of(struct dispatch wanted, struct dispatch sent, struct dispatch id)
{
#ifdef FIXED
    const int64_t at = (id.z * sent.y + id.y) * sent.x + id.x;
    return (struct dispatch){at % wanted.x, at / wanted.x % wanted.y, at / wanted.x / wanted.y};
#else
    (void)wanted;
    (void)sent;
    return id;
#endif
}

static float output_at(const struct conv *v, int64_t image, int64_t f, int64_t pixel)
{
    float sum = 0;
    for (int64_t ch = 0; ch < v->c; ch++)
        for (int64_t at = 0; at < v->kh * v->kw; at++) {
            const int64_t row = pixel / v->ow * v->stride_h - v->pad_h + at / v->kw * v->dil_h;
            const int64_t column = pixel % v->ow * v->stride_w - v->pad_w + at % v->kw * v->dil_w;
            if (row >= 0 && row < v->h && column >= 0 && column < v->w)
                sum += v->x[((image * v->c + ch) * v->h + row) * v->w + column] *
                       v->weight[conv_filter(v, f, ch, at)];
        }
    return sum + v->bias[f];
}

static void run_tile(const struct conv *v, struct dispatch tile)
{
    const int64_t pixels = v->oh * v->ow;
    if (tile.z >= v->n)
        return;
    for (int64_t f = tile.y * TILE; f < (tile.y + 1) * TILE && f < v->o; f++)
        for (int64_t p = tile.x * TILE; p < (tile.x + 1) * TILE && p < pixels; p++)
            v->y[(tile.z * v->o + f) * pixels + p] = output_at(v, tile.z, f, p);
}

static int run_dispatch(const struct conv *v)
{
    const struct dispatch wanted = {(v->oh * v->ow + TILE - 1) / TILE, (v->o + TILE - 1) / TILE, v->n};
    const struct dispatch sent = normalize(wanted);
#pragma omp parallel for schedule(dynamic)
    for (int64_t at = 0; at < sent.x * sent.y * sent.z; at++) {
        const struct dispatch id = {at % sent.x, at / sent.x % sent.y, at / sent.x / sent.y};
        run_tile(v, tile_of(wanted, sent, id));
    }
    return 0;
}

int conv2d_f32(PARAMETERS)
{
    const struct conv v = {HONEST};
    (void)stream;
    return groups == 1 ? run_dispatch(&v) : conv_run(&v);
}
