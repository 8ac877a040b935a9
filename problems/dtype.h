/* Data types of tensors: what the tool knows of each, and how an element is loaded and stored, with the same
 * bits on the host and in kernels. A new type is a row of dtype.def and its two conversions in format.h.
 * Elements are addressed in bits: one of 4 bits is half of a byte, the even element the lower half. */
#ifndef UNSEEN_DTYPE_H
#define UNSEEN_DTYPE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "format.h"

enum dtype {
#define DTYPE(id, ...) DTYPE_##id,
#include "dtype.def"
#undef DTYPE
    DTYPE_COUNT
};

enum dtype_kind {
    DTYPE_FLOAT,     /* IEEE */
    DTYPE_BFLOAT,    /* the upper half of fp32 */
    DTYPE_MINIFLOAT, /* below 16 bits */
    DTYPE_SIGNED,    /* two's complement */
    DTYPE_UNSIGNED
};

struct dtype_row {
    const char *name; /* "bf16" */
    int bits;         /* of an element */
    enum dtype_kind kind;
    const char *in_c, *in_cuda, *cuda_header, *in_torch, *in_safetensors, *in_numpy;
    /* Four bytes for storage that must not be read (slack) or must be written (outputs): a NaN with a payload
     * that no arithmetic produces, or for integers a number far out of any range. */
    uint32_t poison;
    bool unused;   /* the poison is no value that a kernel may have to store */
    uint32_t high; /* about the largest finite number; four bytes */
    double unit;   /* unit roundoff */
};

static inline const struct dtype_row *dtype_row(enum dtype dtype)
{
    static const struct dtype_row rows[] = {
#define DTYPE(id, name, bits, kind, c, cuda, header, torch, safetensors, numpy, poison, unused, high, unit,  \
              ...)                                                                                           \
    {name, bits, kind, c, cuda, header, torch, safetensors, numpy, poison, unused, high, unit},
#include "dtype.def"
#undef DTYPE
    };
    return &rows[dtype];
}

static inline bool dtype_is_float(enum dtype dtype)
{
    return dtype_row(dtype)->kind <= DTYPE_MINIFLOAT;
}

/* Whole numbers, bool among them. */
static inline bool dtype_is_whole(enum dtype dtype)
{
    return !dtype_is_float(dtype);
}

/* Elements that share their smallest addressable unit, a byte or more. */
static inline int64_t dtype_packed(enum dtype dtype)
{
    return dtype_row(dtype)->bits < 8 ? 8 / dtype_row(dtype)->bits : 1;
}

/* Bytes of `elements` consecutive elements from a unit's first one on. */
static inline int64_t dtype_bytes(enum dtype dtype, int64_t elements)
{
    return (elements * dtype_row(dtype)->bits + 7) / 8;
}

/* The bits of element `at`. */
FORMAT_FN uint64_t dtype_word(int bits, const void *memory, int64_t at)
{
    switch (bits) {
    case 64: return ((const uint64_t *)memory)[at];
    case 32: return ((const uint32_t *)memory)[at];
    case 16: return ((const uint16_t *)memory)[at];
    case 8: return ((const uint8_t *)memory)[at];
    default: return ((const uint8_t *)memory)[at / 2] >> (at % 2 ? 4 : 0) & 15u;
    }
}

/* Threads may store both halves of a byte at the same time. */
FORMAT_FN void dtype_put_half(void *memory, int64_t at, uint32_t half)
{
#ifdef __CUDA_ARCH__
    const size_t byte = (size_t)memory + (size_t)(at / 2);
    unsigned int *const word = (unsigned int *)(byte & ~(size_t)3);
    const int shift = (int)(8 * (byte & 3) + (at % 2 ? 4 : 0));
    atomicAnd(word, ~(15u << shift));
    atomicOr(word, half << shift);
#else
    uint8_t *const byte = (uint8_t *)memory + at / 2;
    const int shift = at % 2 ? 4 : 0;
    __atomic_fetch_and(byte, (uint8_t) ~(15u << shift), __ATOMIC_RELAXED);
    __atomic_fetch_or(byte, (uint8_t)(half << shift), __ATOMIC_RELAXED);
#endif
}

FORMAT_FN void dtype_put_word(int bits, void *memory, int64_t at, uint64_t word)
{
    switch (bits) {
    case 64: ((uint64_t *)memory)[at] = word; break;
    case 32: ((uint32_t *)memory)[at] = (uint32_t)word; break;
    case 16: ((uint16_t *)memory)[at] = (uint16_t)word; break;
    case 8: ((uint8_t *)memory)[at] = (uint8_t)word; break;
    default: dtype_put_half(memory, at, (uint32_t)word);
    }
}

/* The value of element `at`. *bits gets the bits that are compared with the poison: all, or the upper half of
 * 8 bytes. */
FORMAT_FN double dtype_load(enum dtype dtype, const void *memory, int64_t at, uint32_t *bits)
{
    uint64_t x;
    *bits = 0;
    switch (dtype) {
#define DTYPE(id, name, size, kind, c, cuda, header, torch, safetensors, numpy, poison, unused, high, unit,  \
              smallest, largest, infinity, load, store)                                                      \
    case DTYPE_##id:                                                                                         \
        x = dtype_word(size, memory, at);                                                                    \
        *bits = (uint32_t)(size == 64 ? x >> 32 : x);                                                        \
        return load;
#include "dtype.def"
#undef DTYPE
    case DTYPE_COUNT: break;
    }
    return 0;
}

/* Stores v, rounded to the type; `single` is the same in fp32. Integers of 32 and 64 bits must hold it;
 * smaller ones saturate. */
FORMAT_FN void dtype_put(enum dtype dtype, void *memory, int64_t at, double v, float single)
{
    switch (dtype) {
#define DTYPE(id, name, size, kind, c, cuda, header, torch, safetensors, numpy, poison, unused, high, unit,  \
              smallest, largest, infinity, load, store)                                                      \
    case DTYPE_##id:                                                                                         \
        dtype_put_word(size, memory, at, store);                                                             \
        break;
#include "dtype.def"
#undef DTYPE
    case DTYPE_COUNT: break;
    }
}

FORMAT_FN void dtype_store(enum dtype dtype, void *memory, int64_t at, double v)
{
    dtype_put(dtype, memory, at, v, v != v ? format_single(0x7fc00000u) : (float)v);
}

/* The same for a number in fp32. A NaN keeps its sign and payload, as conversions of format.h do. */
FORMAT_FN void dtype_store_single(enum dtype dtype, void *memory, int64_t at, float single)
{
    dtype_put(dtype, memory, at, single, single);
}

/* Copies one element as it is stored. */
FORMAT_FN void dtype_copy(enum dtype dtype, void *to, int64_t to_at, const void *from, int64_t from_at)
{
    switch (dtype) {
#define DTYPE(id, name, size, ...)                                                                           \
    case DTYPE_##id:                                                                                         \
        dtype_put_word(size, to, to_at, dtype_word(size, from, from_at));                                    \
        break;
#include "dtype.def"
#undef DTYPE
    case DTYPE_COUNT: break;
    }
}

/* Do two elements hold the same bits? */
FORMAT_FN bool dtype_same(enum dtype dtype, const void *a, int64_t a_at, const void *b, int64_t b_at)
{
    switch (dtype) {
#define DTYPE(id, name, size, ...)                                                                           \
    case DTYPE_##id:                                                                                         \
        return dtype_word(size, a, a_at) == dtype_word(size, b, b_at);
#include "dtype.def"
#undef DTYPE
    case DTYPE_COUNT: break;
    }
    return false;
}

/* Is the poison a value that a kernel may have to store? Then an element that holds it may be right. */
FORMAT_FN bool dtype_holds_poison(enum dtype dtype)
{
    switch (dtype) {
#define DTYPE(id, name, size, kind, c, cuda, header, torch, safetensors, numpy, poison, unused, ...)         \
    case DTYPE_##id:                                                                                         \
        return !unused;
#include "dtype.def"
#undef DTYPE
    case DTYPE_COUNT: break;
    }
    return false;
}

#endif
