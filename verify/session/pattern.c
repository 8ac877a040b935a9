#include "pattern.h"

#include <stdio.h>
#include <string.h>

enum { MOST_RANK = WORST_RANK, NAME_SIZE = 32, MOST_PERIOD = 256 };

/* Statistics of the wrong elements, by dimension. */
struct extent {
    int64_t dim[MOST_RANK], low[MOST_RANK], high[MOST_RANK]; /* lowest and highest wrong index */
    char name[MOST_RANK][NAME_SIZE];
    int rank;
    int64_t wrong, elements;
};

static void at_of(const struct extent *e, int64_t index, int64_t *at)
{
    for (int d = e->rank - 1; d >= 0; d--) {
        at[d] = index % e->dim[d];
        index /= e->dim[d];
    }
}

/* Parses "[rows, cols]": a name per dimension; a dimension without a name gets a number. */
static void read_names(struct extent *e, const char *shape)
{
    const char *at = shape + (*shape == '[');
    for (int d = 0; d < e->rank; d++) {
        const size_t length = strcspn(at, ",]");
        snprintf(e->name[d], NAME_SIZE, "%.*s", (int)length, at);
        if (length == 0)
            snprintf(e->name[d], NAME_SIZE, "dimension %d", d);
        at += length;
        at += strspn(at, ", ");
    }
}

static void gather(struct extent *e, const unsigned char *wrong, const int64_t *dim, int rank,
                   const char *shape)
{
    *e = (struct extent){.rank = rank, .elements = 1};
    for (int d = 0; d < rank; d++) {
        e->dim[d] = e->low[d] = dim[d];
        e->high[d] = -1;
        e->elements *= dim[d];
    }
    read_names(e, shape);
    for (int64_t i = 0; i < e->elements; i++) {
        int64_t at[MOST_RANK];
        if (!wrong[i])
            continue;
        e->wrong++;
        at_of(e, i, at);
        for (int d = 0; d < rank; d++) {
            e->low[d] = at[d] < e->low[d] ? at[d] : e->low[d];
            e->high[d] = at[d] > e->high[d] ? at[d] : e->high[d];
        }
    }
}

static int64_t box_size(const struct extent *e)
{
    int64_t size = 1;
    for (int d = 0; d < e->rank; d++)
        size *= e->high[d] - e->low[d] + 1;
    return size;
}

/* Writes "the last of 7 rows", "the last 3 of 1027 cols", "rows 64..127 of 300". False: all of them are
 * wrong. */
static bool say_range(const struct extent *e, int d, char *text, size_t size)
{
    const long long low = e->low[d], high = e->high[d], dim = e->dim[d], count = high - low + 1;
    if (count == dim)
        return false;
    if (high == dim - 1 && count == 1)
        snprintf(text, size, "the last of %lld along %s", dim, e->name[d]);
    else if (high == dim - 1)
        snprintf(text, size, "the last %lld of %lld along %s", count, dim, e->name[d]);
    else if (low == 0)
        snprintf(text, size, "the first %lld of %lld along %s", count, dim, e->name[d]);
    else if (count == 1)
        snprintf(text, size, "number %lld of %lld along %s", low, dim, e->name[d]);
    else
        snprintf(text, size, "%lld to %lld of %lld along %s", low, high, dim, e->name[d]);
    return true;
}

/* Finds the least p >= 2 for which, in some dimension, all wrong indices have one remainder modulo p. Half of
 * the positions with that remainder must be wrong. */
static bool find_period(const struct extent *e, const unsigned char *wrong, int *dimension, int64_t *period,
                        int64_t *remainder)
{
    for (int d = e->rank - 1; d >= 0; d--)
        for (int64_t p = MOST_PERIOD; p >= 2; p--) {
            int64_t at[MOST_RANK];
            bool same = e->high[d] - e->low[d] >= 2 * p;
            for (int64_t i = 0; same && i < e->elements; i++) {
                if (!wrong[i])
                    continue;
                at_of(e, i, at);
                same = at[d] % p == e->low[d] % p;
            }
            if (!same || e->wrong * 2 * p < box_size(e))
                continue;
            *dimension = d;
            *period = p;
            *remainder = e->low[d] % p;
            return true;
        }
    return false;
}

static void say_density(const struct extent *e, const unsigned char *wrong, char *text, size_t size)
{
    const double box = (double)box_size(e), each = box / (double)e->wrong;
    int dimension = 0;
    int64_t period = 0, remainder = 0;
    text[0] = '\0';
    if (e->wrong == box_size(e))
        return;
    if (e->elements <= 1 << 22 && find_period(e, wrong, &dimension, &period, &remainder))
        snprintf(text, size, ", every index along %s that is %lld mod %lld", e->name[dimension],
                 (long long)remainder, (long long)period);
    else
        snprintf(text, size, ", about one in %.3g of the elements there", each);
}

static void say_where(const struct extent *e, const unsigned char *wrong, char *text, size_t size)
{
    char density[128];
    size_t used = 0;
    text[0] = '\0';
    say_density(e, wrong, density, sizeof density);
    for (int d = 0; d < e->rank && used < size; d++) {
        char range[96];
        if (say_range(e, d, range, sizeof range))
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", range);
    }
    if (used == 0)
        used = (size_t)snprintf(text, size, density[0] ? "all over" : "all elements");
    if (used < size)
        snprintf(text + used, size - used, "%s", density);
}

/* --- the map --- */

static void draw_map(const struct extent *e, const unsigned char *wrong, struct pattern *pattern)
{
    const int64_t width = e->dim[e->rank - 1], height = e->elements / width;
    const int64_t columns = width < PATTERN_COLUMNS ? width : PATTERN_COLUMNS;
    const int64_t rows = height < PATTERN_ROWS ? height : PATTERN_ROWS;
    pattern->rows = (int)rows;
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t c = 0; c < columns; c++) {
            int64_t hit = 0, of = 0;
            for (int64_t y = r * height / rows; y < (r + 1) * height / rows; y++)
                for (int64_t x = c * width / columns; x < (c + 1) * width / columns; x++) {
                    hit += wrong[y * width + x] != 0;
                    of++;
                }
            pattern->map[r][c] = hit == 0 ? '.' : hit == of ? '#' : 'o';
        }
        pattern->map[r][columns] = '\0';
    }
}

void pattern_describe(const unsigned char *wrong, const int64_t *dim, int rank, const char *shape,
                      struct pattern *pattern)
{
    struct extent e;
    *pattern = (struct pattern){.present = false};
    if (rank < 1 || rank > MOST_RANK)
        return;
    gather(&e, wrong, dim, rank, shape);
    if (e.wrong == 0)
        return;
    pattern->present = true;
    say_where(&e, wrong, pattern->text, sizeof pattern->text);
    draw_map(&e, wrong, pattern);
}
