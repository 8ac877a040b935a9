/* topk, the mathematics: values[r,j] is the j-th largest of row r as a multiset (-0 equals 0). indices[r,j]
 * are distinct positions in the row that hold exactly the bits of values[r,j]. */

#define REF_DISCRETE

enum { TOPK_X, TOPK_VALUES, TOPK_INDICES };
enum { TOPK_ROWS, TOPK_N, TOPK_K };

struct ref_state {
    double least;    /* the k-th largest value */
    int64_t greater; /* number of values greater than that */
};

REF_FN int64_t ref_rows(const struct ref_context *c)
{
    return c->extent[TOPK_ROWS];
}

REF_FN int64_t ref_width(const struct ref_context *c)
{
    return c->extent[TOPK_K];
}

REF_FN int64_t topk_padded(const struct ref_context *c)
{
    int64_t size = 1;
    while (size < c->extent[TOPK_K])
        size *= 2;
    return size;
}

/* The expected values, padded to a power of two for sorting; then one bit per position of the row that the
 * candidate names, and one per position that it names twice. */
REF_FN int64_t ref_scratch(const struct ref_context *c)
{
    return topk_padded(c) + 2 * bitset_words(c->extent[TOPK_N]);
}

REF_FN double ref_cost(const struct ref_context *c)
{
    return 0.5 * (double)c->extent[TOPK_N];
}

/* Maps fp32 values to integers in the same order: -inf is the least; -0 and 0 are equal. */
REF_FN int64_t topk_order(double x)
{
    union {
        float value;
        int32_t bits;
    } both;
    both.value = (float)x;
    return both.bits < 0 ? -(int64_t)(both.bits & 0x7fffffff) : both.bits;
}

REF_FN int64_t topk_count_from(const struct ref_context *c, int64_t row, int64_t order)
{
    const int64_t n = c->extent[TOPK_N];
    int64_t count = 0;
    for (int64_t i = REF_LANE; i < n; i += REF_LANES)
        count += topk_order(REF_F32(c, TOPK_X, row * n + i)) >= order;
    return (int64_t)ref_all_sum((double)count);
}

/* The k-th largest value by bisection: the largest order that at least k elements reach. */
REF_FN int64_t topk_least(const struct ref_context *c, int64_t row)
{
    int64_t low = -0x7f800000, high = 0x7f800000; /* the infinities */
    while (low < high) {
        const int64_t middle = low + (high - low + 1) / 2;
        if (topk_count_from(c, row, middle) >= c->extent[TOPK_K])
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Sorts in descending order with all lanes: a bitonic network over a power of two. */
REF_FN void topk_sort(num *value, int64_t size)
{
    for (int64_t width = 2; width <= size; width *= 2)
        for (int64_t gap = width / 2; gap; gap /= 2) {
            for (int64_t i = REF_LANE; i < size; i += REF_LANES) {
                const int64_t other = i ^ gap;
                const bool ascending = (i & width) != 0;
                if (other > i && (num_mid(value[i]) < num_mid(value[other])) != ascending) {
                    const num swapped = value[i];
                    value[i] = value[other];
                    value[other] = swapped;
                }
            }
            ref_barrier();
        }
}

REF_FN double topk_value(int64_t order)
{
    union {
        float value;
        uint32_t bits;
    } both;
    both.bits = order < 0 ? 0x80000000u | (uint32_t)-order : (uint32_t)order;
    return both.value;
}

/* Selects and sorts the values greater than the k-th largest. */
REF_FN void topk_select(const struct ref_context *c, int64_t row, num *scratch, struct ref_state *state)
{
    const int64_t n = c->extent[TOPK_N], size = topk_padded(c), least = topk_least(c, row);
    for (int64_t i = REF_LANE; i < size; i += REF_LANES)
        scratch[i] = num_of(-INFINITY);
    for (int64_t i = REF_LANE; i < 2 * bitset_words(n); i += REF_LANES)
        bitset_clear(scratch + size + i);
    ref_barrier();
    for (int64_t i = REF_LANE; i < n; i += REF_LANES) {
        const double x = REF_F32(c, TOPK_X, row * n + i);
        if (topk_order(x) > least)
            scratch[bitset_count(scratch + size)] = num_of(x);
    }
    ref_barrier();
    state->greater = bitset_counted(scratch + size);
    state->least = topk_value(least);
    topk_sort(scratch, size);
    bitset_clear(scratch + size); /* the counter is no longer needed; the bits follow */
    ref_barrier();
}

REF_FN int64_t topk_index(const struct ref_context *c, int64_t row, int64_t j)
{
    return REF_I64(c, TOPK_INDICES, row * c->extent[TOPK_K] + j);
}

REF_FN void ref_prepare(const struct ref_context *c, int64_t row, num *scratch, struct ref_state *state)
{
    const int64_t n = c->extent[TOPK_N];
    num *named = scratch + topk_padded(c), *twice = named + bitset_words(n);
    topk_select(c, row, scratch, state);
    for (int64_t j = REF_LANE; j < c->extent[TOPK_K]; j += REF_LANES) {
        const int64_t index = topk_index(c, row, j);
        if (index >= 0 && index < n && bitset_set(named, index))
            bitset_set(twice, index);
    }
    ref_barrier();
}

/* Element j is right if its value is the j-th largest, and its index names a position with the same bits that
 * no other element of the row names. */
REF_FN struct element_verdict ref_verdict(const struct ref_context *c, int64_t row, int64_t j, num *scratch,
                                          const struct ref_state *state)
{
    const int64_t n = c->extent[TOPK_N], index = topk_index(c, row, j), at = row * c->extent[TOPK_K] + j;
    num *twice = scratch + topk_padded(c) + bitset_words(n);
    struct element_verdict v = {TOPK_VALUES, REF_F32(c, TOPK_VALUES, at), 0, 0, false, false};

    v.want = v.expected = j < state->greater ? num_mid(scratch[j]) : state->least;
    v.unwritten = REF_BITS32(c, TOPK_VALUES, at) == REF_POISON || index == (int64_t)REF_POISON64;
    if (v.got != v.want)
        return v;
    v.right = !v.unwritten && index >= 0 && index < n && !bitset_has(twice, index) &&
              REF_BITS32(c, TOPK_VALUES, at) == REF_BITS32(c, TOPK_X, row * n + index);
    if (!v.right) { /* the value is right, its index is not */
        v.tensor = TOPK_INDICES;
        v.got = (double)index;
        v.want = NAN;
    }
    return v;
}
