#include "error.h"

/* Fields: d, k, operand rounding, exact integers, truncation. Matrix units have d = (k+1) 2^-F + 2^-m: Ampere
 * 16-bit k 8, F 24, m 23; Hopper 16-bit k 16, F 25, m 23, tf32 k 8; Hopper fp8 k 32, F 13, m 13. */
static const struct arithmetic fp32 = {"fp32", 0x1p-24, 1, 0, 0x1p24, 0};
static const struct arithmetic ampere_mma16 = {"16-bit MMA", 11 * 0x1p-24, 8, 0, 0x1p23, 0};
static const struct arithmetic hopper_mma16 = {"16-bit MMA", 21 * 0x1p-25, 16, 0, 0x1p24, 0};
static const struct arithmetic hopper_tf32 = {"tf32", 13 * 0x1p-25, 8, 0x1p-11, 0x1p11, 0};
static const struct arithmetic hopper_fp8 = {"fp8 MMA", 34 * 0x1p-13, 32, 0, 0x1p13, 0x1p-13};
static const struct arithmetic blackwell_fp8 = {"fp8 MMA", 37 * 0x1p-25, 32, 0, 0x1p24, 0};
static const struct arithmetic operands = {"bf16 operands", 21 * 0x1p-25, 16, 0x1p-8, 0x1p24, 0};
static const struct arithmetic fp16 = {"fp16", 0x1p-11, 16, 0x1p-11, 0x1p11, 0};
static const struct arithmetic bf16 = {"bf16", 0x1p-8, 16, 0x1p-8, 0x1p8, 0};

static void add(struct arithmetics *arithmetics, struct arithmetic arithmetic)
{
    arithmetics->item[arithmetics->count++] = arithmetic;
}

/* TF32 counts as a downgrade of fp32. The host has no matrix units. */
void error_arithmetics(const struct problem *problem, int capability, struct arithmetics *out)
{
    const struct arithmetic *mma16 = capability && capability < 90 ? &ampere_mma16 : &hopper_mma16;
    const struct arithmetic *fp8 = capability >= 100 ? &blackwell_fp8 : &hopper_fp8;
    *out = (struct arithmetics){.count = 0};
    if (problem->arithmetic_class == ARITHMETIC_EXACT) {
        add(out, (struct arithmetic){.name = "exact", .k = 1});
        return;
    }
    add(out, fp32);
    switch (problem->arithmetic_class) {
    case ARITHMETIC_MMA16:
        add(out, *mma16);
        out->admitted = capability ? 1 : 0;
        break;
    case ARITHMETIC_FP8:
        add(out, *mma16);
        add(out, *fp8);
        out->admitted = capability ? 2 : 0;
        break;
    case ARITHMETIC_BF16_OPERANDS:
        add(out, operands);
        out->admitted = 1;
        break;
    default: add(out, hopper_tf32);
    }
    add(out, fp16);
    add(out, bf16);
}
