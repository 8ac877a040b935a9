/* Loads and stores one element of an output in its dtype, on the host and in kernels. The includer must
 * define REF_FN. */
#ifndef UNSEEN_ELEMENT_H
#define UNSEEN_ELEMENT_H

#include "../problems/format.h"
#include "judge.h"

/* Memory offset of element `index` of the judged output, in elements; rows are `pitch` elements apart. */
REF_FN int64_t element_at(const struct judge_request *r, int64_t index)
{
    return format_place(r->width, r->pitch, index);
}

/* The value at offset `at`. *bits gets the bits that are compared with the poison: all, or the upper half of
 * 8 bytes. */
REF_FN double element_number(enum dtype dtype, const void *memory, int64_t at, uint32_t *bits)
{
    switch (dtype) {
    case DTYPE_F64:
        *bits = (uint32_t)(((const uint64_t *)memory)[at] >> 32);
        return ((const double *)memory)[at];
    case DTYPE_I64:
        *bits = (uint32_t)(((const uint64_t *)memory)[at] >> 32);
        return (double)((const int64_t *)memory)[at];
    case DTYPE_F32: *bits = ((const uint32_t *)memory)[at]; return format_single(*bits);
    case DTYPE_I32: *bits = ((const uint32_t *)memory)[at]; return ((const int32_t *)memory)[at];
    case DTYPE_BF16: *bits = ((const uint16_t *)memory)[at]; return single_from_bf16((uint16_t)*bits);
    case DTYPE_F16: *bits = ((const uint16_t *)memory)[at]; return single_from_f16((uint16_t)*bits);
    case DTYPE_E4M3: *bits = ((const uint8_t *)memory)[at]; return single_from_e4m3((uint8_t)*bits);
    case DTYPE_E5M2: *bits = ((const uint8_t *)memory)[at]; return single_from_e5m2((uint8_t)*bits);
    case DTYPE_I8: *bits = ((const uint8_t *)memory)[at]; return (int8_t)*bits;
    case DTYPE_U8:
    case DTYPE_BOOL: break;
    }
    /* a bool other than 0 and 1 is neither false nor true, so its byte is the value */
    *bits = ((const uint8_t *)memory)[at];
    return *bits;
}

/* These one-byte dtypes have no unused bit pattern: the poison may be the right value. */
REF_FN bool element_fills_gaps(enum dtype dtype)
{
    return dtype == DTYPE_I8 || dtype == DTYPE_U8 || dtype == DTYPE_E4M3;
}

/* Stores `value`, rounded to the dtype. */
REF_FN void element_put(enum dtype dtype, void *memory, int64_t at, double value)
{
    const float single = value != value ? format_single(0x7fc00000u) : (float)value;
    switch (dtype) {
    case DTYPE_F64: ((double *)memory)[at] = value; break;
    case DTYPE_I64: ((int64_t *)memory)[at] = (int64_t)rint(value); break;
    case DTYPE_F32: ((float *)memory)[at] = single; break;
    case DTYPE_I32: ((int32_t *)memory)[at] = (int32_t)rint(value); break;
    case DTYPE_BF16: ((uint16_t *)memory)[at] = bf16_from_single(single); break;
    case DTYPE_F16: ((uint16_t *)memory)[at] = f16_from_single(single); break;
    case DTYPE_E4M3: ((uint8_t *)memory)[at] = e4m3_from_single(single); break;
    case DTYPE_E5M2: ((uint8_t *)memory)[at] = e5m2_from_single(single); break;
    case DTYPE_I8: ((int8_t *)memory)[at] = (int8_t)integer_from_single(single, -128, 127); break;
    case DTYPE_U8: ((uint8_t *)memory)[at] = (uint8_t)integer_from_single(single, 0, 255); break;
    case DTYPE_BOOL: ((uint8_t *)memory)[at] = value != 0; break;
    }
}

#endif
