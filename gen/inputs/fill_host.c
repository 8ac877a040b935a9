#include "fill.h"
#include "gen/random/mix.h"

#include <string.h>

#define VALUE_FN static inline
static inline void value_words(struct philox_key key, uint64_t block, uint32_t words[4])
{
    philox_words(key, block, 1, words);
}
#include "values.h"

enum { CHUNK = 1024, TEAM = 1 << 16 /* fewer values are not worth a team of threads */ };

struct philox_key fill_key(const struct problem *problem, uint64_t seed, int content, int tensor)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a of the name */
    for (const char *c = problem->name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    return (struct philox_key){.seed = mix64(hash ^ mix64(seed + 0x9e3779b97f4a7c15u)),
                               .high = (uint64_t)content << 32 | (uint64_t)tensor};
}

static void fill_gather(const struct instance *instance, const struct instance_tensor *tensor,
                        enum dtype dtype, struct philox_key source_key, int64_t first, int64_t count,
                        void *out)
{
    const struct fill *fill = &tensor->fill;
    const struct fill *source = &instance->tensor[fill->source].fill;
    for (int64_t i = first; i < first + count; i++) {
        const int64_t at = fill->start[i / fill->inner] + i % fill->inner;
        uint32_t words[4];
        value_words(source_key, value_block(source, at), words);
        value_store(dtype, out, instance_tensor_place(tensor, i),
                    fill->b * value_draw(source, source_key, at, words));
    }
}

/* The most common kind, as a loop that the compiler vectorizes; value_draw computes the same values. */
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"))) static void
draw_normal(double a, double b, const uint32_t *words, int64_t blocks, float *value)
{
    for (int64_t i = 0; i < blocks; i++)
        for (int lane = 0; lane < 4; lane++)
            value[4 * i + lane] = (float)value_affine(a, b, value_normal_lane(words + 4 * i, lane));
}

__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"))) static void
store_bf16(const float *value, int64_t count, uint16_t *out)
{
    for (int64_t i = 0; i < count; i++)
        out[i] = bf16_from_single(value[i]);
}

/* Stores `count` consecutive values. */
static void store_run(enum dtype dtype, const float *value, int64_t first, int64_t count, void *out)
{
    if (dtype == DTYPE_F32)
        memcpy((float *)out + first, value, (size_t)count * sizeof *value);
    else if (dtype == DTYPE_BF16)
        store_bf16(value, count, (uint16_t *)out + first);
    else
        for (int64_t i = 0; i < count; i++)
            value_store(dtype, out, first + i, value[i]);
}

static void store_chunk(const struct instance_tensor *tensor, enum dtype dtype, const float *value,
                        int64_t first, int64_t count, void *out)
{
    const int64_t width = instance_tensor_width(tensor);
    int64_t run = count;
    if (tensor->pitch == 0) {
        store_run(dtype, value, first, count, out);
        return;
    }
    for (int64_t i = first; i < first + count; i += run) {
        const int64_t left = first + count - i, of_row = width - i % width;
        run = left < of_row ? left : of_row;
        store_run(dtype, value + (i - first), instance_tensor_place(tensor, i), run, out);
    }
}

/* Fills undefined storage: the part of every block after its valid rows. */
static void fill_garbage(const struct instance_tensor *tensor, enum dtype dtype, int64_t first, int64_t count,
                         int content, void *out)
{
    const struct fill *fill = &tensor->fill;
    for (int64_t i = first; i < first + count;) {
        const int64_t block = i / fill->garbage_block, start = block * fill->garbage_block;
        const int64_t real = start + fill->valid[block] * fill->garbage_row;
        const int64_t next = start + fill->garbage_block;
        const int64_t end = next < first + count ? next : first + count;
        for (i = i > real ? i : real; i < end; i++)
            value_store(dtype, out, instance_tensor_place(tensor, i), value_garbage(i, content));
        i = end;
    }
}

static void fill_chunk(const struct instance_tensor *tensor, enum dtype dtype, struct philox_key key,
                       int64_t first, int64_t count, int content, void *out)
{
    const struct fill *fill = &tensor->fill;
    uint32_t words[4 * CHUNK];
    float value[CHUNK];
    const uint64_t block = value_block(fill, first), last = value_block(fill, first + count - 1);
    philox_words(key, block, last - block + 1, words);
    if (fill->kind == FILL_NORMAL) /* chunks start at the first value of a Philox block */
        draw_normal(fill->a, fill->b, words, (int64_t)(last - block) + 1, value);
    else
        for (int64_t i = 0; i < count; i++)
            value[i] = value_draw(fill, key, first + i, words + 4 * i);
    store_chunk(tensor, dtype, value, first, count, out);
    if (fill->valid)
        fill_garbage(tensor, dtype, first, count, content, out);
}

void fill_store(enum dtype dtype, void *out, int64_t i, float value)
{
    value_store(dtype, out, i, value);
}

int64_t fill_period(const struct fill *fill)
{
    if (fill->planted_count > 0)
        return 0;
    switch (fill->kind) {
    case FILL_CONSTANT:
    case FILL_NORMAL:
    case FILL_UNIFORM:
    case FILL_INTEGERS:
    case FILL_POWERS:
    case FILL_WIDE:
    case FILL_LEVELS:
    case FILL_NANS:
    case FILL_NIBBLES:
    case FILL_MOSTLY:
    case FILL_SIGNS:
    case FILL_FRACTIONS:
    case FILL_DECISION:
    case FILL_ZEROS: return 1;
    case FILL_CHANNELS:
    case FILL_ONEHOT:
    case FILL_ROWS_EQUAL:
    case FILL_EXTREME:
    case FILL_SPECIAL:
    case FILL_INFINITIES:
    case FILL_CLUSTER: return fill->inner;
    default: return 0;
    }
}

bool fill_is_real(const struct fill *fill, int64_t i)
{
    return !fill->valid || value_is_real(fill, fill->valid, i);
}

static void store_given(const struct fill *fill, enum dtype dtype, int64_t i, void *out, int64_t place)
{
    float value;
    if (fill->floats) {
        memcpy(&value, &fill->given[i], sizeof value);
        value_store(dtype, out, place, value);
    } else if (dtype == DTYPE_I32)
        ((int32_t *)out)[place] = fill->given[i];
    else if (dtype == DTYPE_I64)
        ((int64_t *)out)[place] = fill->given[i];
    else
        value_store(dtype, out, place, (float)fill->given[i] * (fill->b != 0 ? fill->b : 1));
}

void fill_given(const struct fill *fill, enum dtype dtype, int64_t count, void *out)
{
#pragma omp parallel for schedule(static) if (count > TEAM)
    for (int64_t i = 0; i < count; i++)
        store_given(fill, dtype, i, out, i);
}

void fill_host(const struct problem *problem, const struct instance *instance, int number, uint64_t seed,
               int content, void *out)
{
    const struct instance_tensor *tensor = &instance->tensor[number];
    const struct fill *fill = &tensor->fill;
    const enum dtype dtype = problem->tensors[number].dtype;
    const int64_t count = instance_tensor_count(tensor);
    const int of = fill->steady ? 0 : content;
    const struct philox_key key = fill_key(problem, seed, of, number);
    const struct philox_key source = fill_key(problem, seed, of, fill->source);

    if (fill->kind == FILL_GIVEN) {
#pragma omp parallel for schedule(static) if (count > TEAM)
        for (int64_t i = 0; i < count; i++)
            store_given(fill, dtype, i, out, instance_tensor_place(tensor, i));
    }
    if (fill->kind == FILL_GIVEN || count == 0)
        return;
#pragma omp parallel for schedule(static)
    for (int64_t first = 0; first < count; first += CHUNK) {
        const int64_t n = count - first < CHUNK ? count - first : CHUNK;
        if (fill->kind == FILL_GATHER)
            fill_gather(instance, tensor, dtype, source, first, n, out);
        else
            fill_chunk(tensor, dtype, key, first, n, content, out);
    }
    for (int i = 0; i < fill->planted_count; i++)
        value_store(dtype, out, instance_tensor_place(tensor, fill->planted[i].index),
                    fill->planted[i].value);
}
