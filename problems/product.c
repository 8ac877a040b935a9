#include "product.h"

#include <math.h>

enum { CORNERS = 6, NEEDLES = 10 };

struct operand product_operand(struct fill *fill, int64_t rows, int64_t k, bool across)
{
    return (struct operand){fill, rows, rows, 0, across ? 1 : k, across ? rows : 1};
}

int64_t product_place(const struct operand *o, int64_t row, int64_t depth)
{
    return row / o->inner * o->outer + row % o->inner * o->row_step + depth * o->depth_step;
}

static int64_t any_row(const struct operand *o, struct random *random)
{
    return (int64_t)random_below(random, (uint64_t)o->rows);
}

void product_integers(struct operand a, struct operand b, int64_t k, struct random *random)
{
    const float largest = k <= 64 ? 3 : 1;
    const double square = largest == 1 ? 1 : 14.0 / 3; /* mean square of the nonzero values */
    const double wanted = 1200 / (square * square * (double)k);
    const float density = (float)(wanted < 1 ? sqrt(wanted) : 1);

    *a.fill = (struct fill){.kind = FILL_INTEGERS, .b = largest, .density = density};
    *b.fill = *a.fill;
    for (int i = 0; i < CORNERS; i++) {
        const int64_t depth = i < 2 ? k - 1 : (int64_t)random_below(random, (uint64_t)k);
        const int64_t row = i % 2 ? any_row(&a, random) : a.rows - 1;
        const int64_t col = i % 2 ? any_row(&b, random) : b.rows - 1;
        a.fill->planted[i] = (struct fill_planted){product_place(&a, row, depth), 1};
        b.fill->planted[i] = (struct fill_planted){product_place(&b, col, depth), 1};
    }
    a.fill->planted_count = b.fill->planted_count = CORNERS;
}

/* The positions of tails and tile edges. */
static int64_t needle_depth(int64_t k, int i)
{
    const int64_t depths[] = {k - 1, (k - 1) & ~(int64_t)15, (k - 1) & ~(int64_t)127, k / 2, 0};
    return depths[i % 5];
}

void product_needles(struct operand a, struct operand b, int64_t k, struct random *random)
{
    product_integers(a, b, k, random);
    for (int i = 0; i < NEEDLES; i++) {
        const int64_t depth = needle_depth(k, i);
        const int64_t row = i ? any_row(&a, random) : a.rows - 1;
        const int64_t col = i ? any_row(&b, random) : b.rows - 1;
        a.fill->planted[i] = (struct fill_planted){product_place(&a, row, depth), i % 2 ? -24.0f : 24.0f};
        b.fill->planted[i] = (struct fill_planted){product_place(&b, col, depth), i % 3 ? 20.0f : -28.0f};
    }
    a.fill->planted_count = b.fill->planted_count = NEEDLES;
}

/* 40 long products of 2^16 on average: sum |p| is 2.6e6 +- 0.6e6, the planted terms add at most 1.8e6, and
 * 2^23 is six deviations away. */
void product_odd(struct operand a, struct operand b, int64_t k, bool needles, struct random *random)
{
    const int64_t nonzero = k < 1200 ? k : 1200, turn = (int64_t)random_below(random, 2);
    const float density = (float)sqrt((double)nonzero / (double)k), longest = 0x2aaab;

    *a.fill = (struct fill){.kind = FILL_ODD,
                            .a = (float)turn,
                            .b = nonzero > 40 ? 40 / (float)nonzero : 1,
                            .density = density,
                            .inner = k,
                            .step = a.depth_step};
    *b.fill = *a.fill;
    b.fill->a = (float)(1 - turn);
    b.fill->step = b.depth_step;
    a.fill->planted_count = b.fill->planted_count = needles ? NEEDLES : CORNERS;
    for (int i = 0; i < a.fill->planted_count; i++) {
        const bool tail = needles || i < 2;
        const int64_t depth =
            tail ? needle_depth(k, needles ? i : 0) : (int64_t)random_below(random, (uint64_t)k);
        const int64_t row = i % 2 ? any_row(&a, random) : a.rows - 1;
        const int64_t col = i % 3 ? any_row(&b, random) : b.rows - 1;
        const bool long_a = depth % 2 == turn;
        a.fill->planted[i] = (struct fill_planted){product_place(&a, row, depth), long_a ? longest : -1};
        b.fill->planted[i] = (struct fill_planted){product_place(&b, col, depth), long_a ? -1 : longest};
    }
}

void product_special(struct operand a, struct operand b, int64_t k, bool infinities)
{
    const float density = (float)fmin(0.05, 0.3 / (double)k);
    *a.fill = (struct fill){.kind = FILL_NANS, .a = infinities, .b = 2, .density = density};
    *b.fill = *a.fill;
}
