#include "needles.h"

void needles_plant(struct fill *fill, int64_t rows, int64_t cols, int64_t vector, int64_t tile,
                   struct random *random, float (*value)(int i))
{
    const int64_t where[] = {cols - 1, 0, cols & ~(vector - 1), cols & ~(tile - 1),
                             (int64_t)random_below(random, (uint64_t)cols)};
    for (int i = 0; i < FILL_MAX_PLANTED; i++) {
        const int64_t col = where[i % 5] < cols ? where[i % 5] : cols - 1;
        const int64_t row = i == 0 ? rows - 1 : (int64_t)random_below(random, (uint64_t)rows);
        fill->planted[i] = (struct fill_planted){row * cols + col, value(i)};
    }
    fill->planted_count = FILL_MAX_PLANTED;
}
