/* The structure of a paged attention instance: lengths, tables, storage past the end. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/inputs/fill.h"
#include "oracle.h"

TCase *fill_paged_case(void);

enum { KV = 1, TABLE = 2, LENS = 3 };

struct paged {
    struct oracle o;
    int64_t batch, size, pages, per_seq, max_len;
    int32_t *used; /* [pages]: leading slots that some token uses */
    int64_t named; /* table entries of tokens, shared ones counted again */
};

static const char *const lengths[] = {"equal", "ragged", "one", "short", "full", "over"};
static const char *const tables[] = {"shuffled", "identity", "reversed", "shared"};
static const char *const pasts[] = {"finite", "nan", "invalid"};

static int32_t entry(const struct paged *p, int64_t b, int64_t i)
{
    return oracle_i32(&p->o, TABLE, b * p->per_seq + i);
}

static int64_t pages_of(const struct paged *p, int64_t b)
{
    return (oracle_i32(&p->o, LENS, b) + p->size - 1) / p->size;
}

static void open_paged(struct paged *p, const char *line, int content)
{
    oracle_open(&p->o, "paged_attention", line, content, 0);
    const int64_t *e = p->o.instance.extent;
    p->batch = e[0];
    p->size = e[4];
    p->pages = e[5];
    p->per_seq = e[6];
    p->max_len = config_value(&p->o.config, "max_len");
    p->used = calloc((size_t)p->pages, sizeof *p->used);
    p->named = 0;
    for (int64_t b = 0; b < p->batch; b++)
        for (int64_t i = 0; i < pages_of(p, b); i++) {
            const int64_t left = oracle_i32(&p->o, LENS, b) - i * p->size;
            const int32_t page = entry(p, b, i), slots = (int32_t)(left < p->size ? left : p->size);
            ck_assert_msg(page >= 0 && page < p->pages, "%s: page %d of %lld", line, page,
                          (long long)p->pages);
            p->used[page] = p->used[page] > slots ? p->used[page] : slots;
            p->named++;
        }
}

static void close_paged(struct paged *p)
{
    free(p->used);
    oracle_close(&p->o);
}

/* One sequence has max_len tokens; the choice decides the others. */
static void check_lengths(const struct paged *p, const char *choice)
{
    bool longest = false;
    ck_assert_int_eq(p->per_seq, (p->max_len + p->size - 1) / p->size);
    for (int64_t b = 0; b < p->batch; b++) {
        const int64_t n = oracle_i32(&p->o, LENS, b);
        ck_assert(n >= 1 && n <= p->max_len);
        if (n == p->max_len && !longest) {
            longest = true;
            continue;
        }
        if (strcmp(choice, "equal") == 0)
            ck_assert_int_eq(n, p->max_len);
        if (strcmp(choice, "one") == 0)
            ck_assert_int_eq(n, 1);
        if (strcmp(choice, "short") == 0)
            ck_assert(n < p->size || n == 1);
        if (strcmp(choice, "full") == 0)
            ck_assert_msg(n % p->size == 0 || p->max_len < p->size, "%lld tokens", (long long)n);
        if (strcmp(choice, "over") == 0)
            ck_assert(n % p->size == 1 || p->size == 1 || n == p->max_len);
    }
    ck_assert(longest);
}

/* No page occurs twice within a sequence, and between sequences only shared ones do. */
static void check_table(const struct paged *p, const char *choice)
{
    int32_t *owner = malloc((size_t)p->pages * sizeof *owner);
    int64_t shared = 0, next = 0;
    memset(owner, -1, (size_t)p->pages * sizeof *owner);
    for (int64_t b = 0; b < p->batch; b++)
        for (int64_t i = 0; i < pages_of(p, b); i++, next++) {
            const int32_t page = entry(p, b, i);
            ck_assert_int_ne(owner[page], (int32_t)b);
            if (owner[page] >= 0) {
                shared++;
                ck_assert(b % 2 == 1 && owner[page] == b - 1 && entry(p, b - 1, i) == page);
            }
            owner[page] = (int32_t)b;
            if (strcmp(choice, "identity") == 0)
                ck_assert_int_eq(page, next);
            if (strcmp(choice, "reversed") == 0)
                ck_assert_int_eq(page, p->pages - 1 - next);
        }
    ck_assert((shared > 0) == (strcmp(choice, "shared") == 0 && p->batch > 1));
    free(owner);
}

/* Entries past the end, and the slots and pages that no token uses. */
static void check_past(const struct paged *p, const char *choice, int content)
{
    const int64_t row = p->o.bytes[KV] / 2 / p->pages / p->size;
    for (int64_t b = 0; b < p->batch; b++)
        for (int64_t i = pages_of(p, b); i < p->per_seq; i++) {
            const bool legal = entry(p, b, i) >= 0 && entry(p, b, i) < p->pages;
            ck_assert(legal == (strcmp(choice, "invalid") != 0));
        }
    for (int64_t s = 0; s < p->pages * p->size; s++)
        for (int64_t d = 0; d < row; d += row - 1) { /* the slot's first and last number */
            const double value = oracle_bf16(&p->o, KV, s * row + d);
            const bool garbage = content % 2 == 0 ? isnan(value) : fabs(value) == 0x1p126;
            const bool used = s % p->size < p->used[s / p->size];
            ck_assert_msg(garbage == (!used && strcmp(choice, "finite") != 0), "slot %lld: %s", (long long)s,
                          used ? "used" : "not used");
        }
}

static void check_all(const char *shape, int l, int t, int q, int content)
{
    struct paged p;
    char line[256];
    snprintf(line, sizeof line, "%s lengths=%s table=%s past=%s seed=%d", shape, lengths[l], tables[t],
             pasts[q], 60 + l * 12 + t * 3 + q);
    open_paged(&p, line, content);
    check_lengths(&p, lengths[l]);
    check_table(&p, tables[t]);
    check_past(&p, pasts[q], content);
    close_paged(&p);
}

START_TEST(tables_lengths_and_garbage_are_what_the_choices_say)
{
    static const char *const shapes[] = {
        "batch=7 heads=2 kv_heads=1 head_dim=64 page_size=8 max_len=45",
        "batch=1 heads=1 kv_heads=1 head_dim=80 page_size=16 max_len=40",
        "batch=4 heads=2 kv_heads=2 head_dim=64 page_size=1 max_len=9",
        "batch=9 heads=1 kv_heads=1 head_dim=64 page_size=17 max_len=17",
        "batch=5 heads=1 kv_heads=1 head_dim=64 page_size=128 max_len=100",
    };
    for (int l = 0; l < 6; l++)
        for (int t = 0; t < 4; t++)
            for (int q = 0; q < 3; q++)
                check_all(shapes[_i], l, t, q, (l + t + q) % 3);
}
END_TEST

static int compare_lengths(const void *a, const void *b)
{
    return *(const int32_t *)a - *(const int32_t *)b;
}

/* Lengths belong to the shape; their order among sequences is content. */
START_TEST(every_content_has_the_same_shape)
{
    struct paged p[3];
    for (int c = 0; c < 3; c++) {
        open_paged(&p[c],
                   "batch=12 heads=4 kv_heads=2 head_dim=64 page_size=16 max_len=99 "
                   "lengths=ragged table=shared past=invalid seed=77",
                   c);
        ck_assert_mem_eq(p[c].o.instance.extent, p[0].o.instance.extent, sizeof p[0].o.instance.extent);
        ck_assert(p[c].o.instance.flops == p[0].o.instance.flops);
        ck_assert(c == 0 || memcmp(p[c].o.tensor[LENS], p[0].o.tensor[LENS], 12 * 4) != 0);
    }
    for (int c = 0; c < 3; c++)
        qsort(p[c].o.tensor[LENS], 12, 4, compare_lengths);
    for (int c = 1; c < 3; c++)
        ck_assert_mem_eq(p[c].o.tensor[LENS], p[0].o.tensor[LENS], 12 * 4);
    for (int c = 0; c < 3; c++)
        close_paged(&p[c]);
}
END_TEST

/* Every query is 8 times a key of its own sequence and head, which then takes all the weight. */
START_TEST(a_one_hot_query_is_a_key_of_its_sequence)
{
    struct paged p;
    open_paged(&p,
               "batch=6 heads=8 kv_heads=2 head_dim=96 page_size=8 max_len=37 lengths=ragged "
               "table=shared past=nan input=onehot seed=3",
               1);
    int last = 0;
    for (int64_t row = 0; row < p.batch * 8; row++) {
        const int64_t b = row / 8, h = row % 8, length = oracle_i32(&p.o, LENS, b);
        int64_t hit = -1;
        for (int64_t t = 0; t < length && hit < 0; t++) {
            int64_t d = 0;
            while (d < 96 && oracle_bf16(&p.o, 0, row * 96 + d) ==
                                 8 * oracle_bf16(&p.o, KV, oracle_key(&p.o, b, h, t) + d))
                d++;
            hit = d == 96 ? t : -1;
        }
        ck_assert_int_ge(hit, 0);
        ck_assert(row >= 2 || hit == length - 1);
        last += hit == length - 1;
    }
    ck_assert_int_ge(last, 4);
    close_paged(&p);
}
END_TEST

/* Every value is 0 or +-1, but for some at the last tokens and at edges, +-8; long sequences have few of
 * them. */
START_TEST(uniform_values_are_sparse_in_long_sequences)
{
    static const int64_t lengths_of[] = {40, 4000, 100000};
    static const double share[] = {0.9, 0.1, 0x1p-7};
    for (int i = 0; i < 3; i++) {
        struct paged p;
        char line[160];
        int64_t ones = 0, eights = 0, values = lengths_of[i] * 64;
        snprintf(line, sizeof line,
                 "batch=1 heads=1 kv_heads=1 head_dim=64 page_size=8 max_len=%lld input=uniform seed=5",
                 (long long)lengths_of[i]);
        open_paged(&p, line, 0);
        for (int64_t t = 0; t < lengths_of[i]; t++)
            for (int d = 64; d < 128; d++) {
                const double v = fabs(oracle_bf16(&p.o, KV, oracle_key(&p.o, 0, 0, t) + d));
                ck_assert(v == 0 || v == 1 || v == 8);
                ones += v == 1;
                eights += v == 8;
            }
        ck_assert(fabs((double)ones / (double)values - share[i]) < 0.2 * share[i]);
        ck_assert(eights > 4 && eights <= 16);
        ck_assert_double_eq(fabs(oracle_bf16(&p.o, KV, oracle_key(&p.o, 0, 0, lengths_of[i] - 1) + 127)), 8);
        close_paged(&p);
    }
}
END_TEST

TCase *fill_paged_case(void)
{
    TCase *paged = tcase_create("paged");
    tcase_add_loop_test(paged, tables_lengths_and_garbage_are_what_the_choices_say, 0, 5);
    tcase_add_test(paged, every_content_has_the_same_shape);
    tcase_add_test(paged, a_one_hot_query_is_a_key_of_its_sequence);
    tcase_add_test(paged, uniform_values_are_sparse_in_long_sequences);
    tcase_set_timeout(paged, 60);
    return paged;
}
