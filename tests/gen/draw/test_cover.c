/* The coverage of an unseen set, counted again here from the definition of the classes alone. */
#include "gen_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/draw/draw.h"

enum { LABELS = 24 * 32, MOST_FACTORS = 24 };

/* --- an independent count: labels of a configuration, two numbers for a range, one for a list --- */

static int64_t greatest_tile(const struct domain *domain)
{
    int64_t most = 2;
    for (int i = 0; i < domain->tile_count; i++)
        most = domain->tile[i] > most ? domain->tile[i] : most;
    return most;
}

static int64_t least_tile(const struct domain *domain)
{
    int64_t least = INT64_MAX;
    for (int i = 0; i < domain->tile_count; i++)
        if (domain->tile[i] > 1 && domain->tile[i] < least)
            least = domain->tile[i];
    return least == INT64_MAX ? 2 : least;
}

static int size_label(const struct domain *domain, int64_t largest, int64_t v)
{
    const int64_t least = least_tile(domain), quarter = largest / 4, past = greatest_tile(domain) + 2;
    if (v == domain->low)
        return 0;
    for (int plus = 0; plus < 2; plus++)
        for (int i = 0; i < domain->tile_count; i++)
            if (domain->tile[i] > 1 && v == domain->tile[i] + plus)
                return 2 + plus;
    if (v < least)
        return 1;
    if (v == 132 * least || v == 132 * least + 1)
        return 5 + (int)(v - 132 * least);
    return v >= (quarter >= past ? quarter : past) ? 7 : 4;
}

/* One bit for every remainder that some tile leaves: 0, 1, tile - 1, half a tile. */
static unsigned remainder_bits(const struct domain *domain, int64_t v)
{
    unsigned bits = 0;
    bool any = false;
    for (int i = 0; i <= domain->tile_count; i++) {
        const int64_t tile = i < domain->tile_count ? domain->tile[i] : 2;
        if (tile == 1 || (i == domain->tile_count && any))
            continue;
        any = true;
        bits |= (v % tile == 0 ? 1u : 0) | (v % tile == 1 ? 2u : 0) | (v % tile == tile - 1 ? 4u : 0) |
                (tile >= 4 && v % tile == tile / 2 ? 8u : 0);
    }
    return bits;
}

/* Whether a kernel's author knew this number on this axis: a class of its own, beside its size. */
static bool is_shown(const struct config_list *seen, int axis, int64_t v)
{
    bool shown = false;
    for (const struct config *c = seen->item; c < seen->item + seen->count; c++)
        shown |= c->value[axis] == v;
    return shown;
}

/* bits[f]: the classes of factor f that the configuration lies in. */
static int label(const struct space *space, const struct config_list *seen, const struct config *config,
                 unsigned *bits)
{
    int factors = 0;
    for (int i = 0; space->problem->axes[i].name; i++) {
        const struct domain *domain = &space->domain[i];
        const int64_t v = config->value[i];
        if (domain->value_count > 1) {
            for (int k = 0; k < domain->value_count; k++)
                if (domain->value[k] == v)
                    bits[factors] = 1u << k;
            factors++;
        } else if (domain->value_count == 0) {
            bits[factors++] =
                1u << size_label(domain, domain->high, v) | (is_shown(seen, i, v) ? 1u << 8 : 0);
            bits[factors++] = remainder_bits(domain, v);
        }
    }
    return factors;
}

static long long count_pairs(const struct space *space, const struct config_list *seen,
                             const struct drawn_list *list)
{
    static bool met[LABELS][LABELS];
    long long pairs = 0;
    memset(met, 0, sizeof met);
    for (int i = 0; i < list->count; i++) {
        unsigned bits[MOST_FACTORS];
        const int factors = label(space, seen, &list->item[i].config, bits);
        for (int f = 0; f < factors; f++)
            for (int g = f + 1; g < factors; g++)
                for (int a = 0; a < 32; a++)
                    for (int b = 0; b < 32; b++)
                        if (bits[f] >> a & 1 && bits[g] >> b & 1)
                            met[f * 32 + a][g * 32 + b] = true;
    }
    for (int i = 0; i < LABELS; i++)
        for (int j = 0; j < LABELS; j++)
            pairs += met[i][j];
    return pairs;
}

static struct drawn_list draw_beside(const struct config_list *seen, const struct space *space, int count,
                                     uint64_t seed, const struct draw_caps *caps, struct draw_notes *notes)
{
    struct drawn_list list;
    struct space_error error;
    ck_assert_msg(draw_unseen(&list, space, seen, NULL, count, seed, caps, notes, &error) == 0, "%s",
                  error.text);
    return list;
}

static struct drawn_list draw(const struct space *space, int count, uint64_t seed,
                              const struct draw_caps *caps, struct draw_notes *notes)
{
    return draw_beside(&(const struct config_list){0}, space, count, seed, caps, notes);
}

static const char *const counted[] = {"softmax", "gemm_bf16", "topk", "kda"};
enum { COUNTED = sizeof counted / sizeof *counted };

/* For every problem a small and a standard set, each with nothing shown to the author and with the published
 * set. */
START_TEST(the_coverage_that_is_told_is_the_one_that_an_independent_count_finds)
{
    const bool standard = _i & 1, shown = _i & 2;
    struct space space = published_space(counted[_i / 4]);
    struct config_list seen = {0};
    struct draw_notes notes;
    if (shown)
        seen = published_seen(&space, ".seen");
    struct drawn_list list = draw_beside(&seen, &space, standard ? 300 : 35, 7, NULL, &notes);
    const struct coverage *c = &notes.coverage;
    ck_assert_int_eq(c->strength, 2);
    ck_assert_int_eq(c->covered, count_pairs(&space, &seen, &list));
    ck_assert_int_le(c->covered, c->possible);
    if (standard)
        ck_assert_msg(c->covered * 100 >= c->possible * 90, "%s: only %lld of %lld pairs", counted[_i / 4],
                      (long long)c->covered, (long long)c->possible);
    drawn_list_clear(&list);
    config_list_clear(&seen);
    space_clear(&space);
}
END_TEST

/* A set of the same size without the covering part, to show the worth of the greedy rows. */
START_TEST(more_rows_cover_more_and_in_the_end_everything)
{
    struct space space = published_space("gemm_f32");
    struct draw_notes few, many;
    struct drawn_list list = draw(&space, 35, 7, NULL, &few);
    drawn_list_clear(&list);
    list = draw(&space, 1499, 7, NULL, &many);
    ck_assert_int_lt(few.coverage.covered, many.coverage.covered);
    ck_assert_int_eq(many.coverage.covered, many.coverage.possible);
    ck_assert_int_eq(many.coverage.caps, 0);
    drawn_list_clear(&list);
    space_clear(&space);
}
END_TEST

START_TEST(a_deep_set_covers_triples)
{
    struct space space = published_space("gemm_fp8");
    struct draw_notes notes;
    struct drawn_list list = draw(&space, 1500, 3, NULL, &notes);
    ck_assert_int_eq(notes.coverage.strength, 3);
    ck_assert_int_gt(notes.coverage.covered * 100, notes.coverage.possible * 90);
    ck_assert_ptr_nonnull(strstr(notes.text, "triples covered by the unseen set"));
    drawn_list_clear(&list);
    space_clear(&space);
}
END_TEST

/* Long rows and many of them at once do not fit: the pair is excluded, and the report says so. */
START_TEST(what_the_caps_exclude_is_told_apart_from_what_was_missed)
{
    struct space space = published_space("softmax");
    const struct draw_caps caps = {8e6, 1e12};
    struct draw_notes notes;
    struct drawn_list list = draw(&space, 1400, 3, &caps, &notes);
    ck_assert_int_gt(notes.coverage.caps, 0);
    ck_assert_int_eq(notes.coverage.covered, notes.coverage.possible);
    ck_assert_ptr_nonnull(strstr(notes.text, "need more memory or work"));
    drawn_list_clear(&list);
    space_clear(&space);
}
END_TEST

START_TEST(a_class_that_the_contract_forbids_is_not_counted)
{
    struct space space = published_space("topk"); /* k <= n, so n at its least leaves k no other class */
    struct draw_notes notes;
    struct drawn_list list = draw(&space, 1400, 3, NULL, &notes);
    ck_assert_int_gt(notes.coverage.contract, 40);
    ck_assert_int_eq(notes.coverage.covered, notes.coverage.possible);
    drawn_list_clear(&list);
    space_clear(&space);
}
END_TEST

/* softmax's x and y may have 2^36 elements; without caps both offsets overflow somewhere in the set. */
START_TEST(tensors_beyond_31_bits_are_drawn_where_they_fit)
{
    struct space space = published_space("softmax");
    const struct draw_caps small = {1e9, 1e12};
    struct draw_notes notes;
    struct drawn_list list = draw(&space, 100, 5, NULL, &notes);
    double most = 0;
    for (int i = 0; i < list.count; i++) {
        const double n = (double)list.item[i].config.value[0] * (double)list.item[i].config.value[1];
        most = n > most ? n : most;
    }
    ck_assert_double_gt(most, 0x1p31);
    ck_assert_ptr_nonnull(strstr(notes.text, "x, y beyond 2^31 elements"));
    drawn_list_clear(&list);
    list = draw(&space, 100, 5, &small, &notes);
    ck_assert_ptr_nonnull(strstr(notes.text, "x, y never beyond 2^31 bytes, for the caps"));
    drawn_list_clear(&list);
    space_clear(&space);
}
END_TEST

/* Sizes that a GPU with 139 GiB affords, for every problem: which of its tensors go how far. A tensor that is
 * not named cannot be so large in its contract. */
static const struct {
    const char *problem, *said; /* NULL: nothing */
} big_tensors[] = {
    {"softmax", "tensors: x, y beyond 2^31 elements"},
    {"paged_attention", "tensors: kv_cache beyond 2^31 elements"}, /* many tokens share a page */
    {"kda", "tensors: q, k, v, g, o beyond 2^31 bytes"},           /* with twice the work of the others */
    {"topk", "tensors: x beyond 2^31 elements"},
    {"moe_up", "tensors: hidden, w_gate, w_up, out beyond 2^31 elements"},
    {"gemm_fp8", NULL},
    {"gemm_w4a16", NULL},
    {"gemm_bf16", NULL},
    {"gemm_f32", NULL},
};

START_TEST(every_tensor_that_can_be_large_is)
{
    struct space space = published_space(big_tensors[_i].problem);
    const struct draw_caps caps = {4.188e10, 5e11};
    struct draw_notes notes;
    struct drawn_list list = draw(&space, 300, 7, &caps, &notes);
    const char *said = big_tensors[_i].said;
    ck_assert_msg(said ? strstr(notes.text, said) != NULL : strstr(notes.text, "beyond 2^31") == NULL, "%s",
                  notes.text);
    ck_assert_ptr_null(strstr(notes.text, "never beyond"));
    drawn_list_clear(&list);
    space_clear(&space);
}
END_TEST

TCase *gen_cover_case(void)
{
    TCase *tests = tcase_create("covering");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, the_coverage_that_is_told_is_the_one_that_an_independent_count_finds, 0,
                        4 * COUNTED);
    tcase_add_test(tests, more_rows_cover_more_and_in_the_end_everything);
    tcase_add_test(tests, a_deep_set_covers_triples);
    tcase_add_test(tests, what_the_caps_exclude_is_told_apart_from_what_was_missed);
    tcase_add_test(tests, a_class_that_the_contract_forbids_is_not_counted);
    tcase_add_test(tests, tensors_beyond_31_bits_are_drawn_where_they_fit);
    tcase_add_loop_test(tests, every_tensor_that_can_be_large_is, 0,
                        sizeof big_tensors / sizeof *big_tensors);
    return tests;
}
