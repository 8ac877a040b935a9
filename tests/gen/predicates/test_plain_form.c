/* Conditions are written in their plainest form. Runs in the repository root. */
#include <check.h>
#include <stdlib.h>

#include "explain_planted.h"
#include "gen/predicates/predicate.h"
#include "suites.h"

static int quantity_of(const struct vocabulary *vocabulary, enum quantity_kind kind, int64_t tile, int axis)
{
    for (int q = 0; q < vocabulary->quantities; q++)
        if (vocabulary->quantity[q].kind == kind && vocabulary->quantity[q].tile == tile &&
            vocabulary->quantity[q].axis[0] == axis)
            return q;
    ck_abort_msg("no such quantity");
}

enum { ROWS, COLS }; /* of softmax */

/* Each as it might be found, and as it is printed. */
static const struct written {
    struct written_predicate {
        enum quantity_kind quantity;
        int64_t tile;
        int axis;
        enum predicate_kind kind;
        bool negated;
        int64_t a, b;
    } term[2];
    int count;
    const char *text;
} written[] = {
    {{{QUANTITY_TILES, 4, COLS, PREDICATE_REMAINDER, false, 2, 0},
      {QUANTITY_PRODUCT, 0, COLS, PREDICATE_REMAINDER, true, 4, 0}},
     2,
     "cols % 8 >= 5"},
    {{{QUANTITY_PRODUCT, 0, COLS, PREDICATE_ABOVE, true, 5, 0},
      {QUANTITY_PRODUCT, 0, COLS, PREDICATE_EQUAL, true, 4, 0}},
     2,
     "cols in {1, 2, 3, 5}"},
    {{{QUANTITY_PRODUCT, 0, COLS, PREDICATE_REMAINDER, true, 2, 0},
      {QUANTITY_PRODUCT, 0, COLS, PREDICATE_REMAINDER, true, 3, 0}},
     2,
     "cols % 2 != 0 and cols % 3 != 0"},
    {{{QUANTITY_OFFSET, 0, ROWS, PREDICATE_ABOVE, false, 0, 0}}, 1, "rows > 1"},
    {{{QUANTITY_RATIO, 0, ROWS, PREDICATE_ABOVE, false, 0, 0}}, 1, "rows >= cols"},
    {{{QUANTITY_PRODUCT, 0, COLS, PREDICATE_REMAINDER, true, 64, 0}}, 1, "cols % 64 != 0"},
};

START_TEST(terms_of_one_axis_are_written_as_the_plainest_one)
{
    const struct written *const at = &written[_i];
    struct vocabulary *const vocabulary = calloc(1, sizeof *vocabulary);
    struct hypothesis hypothesis = {.count = at->count, .starts = {true}};
    struct ground ground;
    char text[240];
    ck_assert_ptr_nonnull(vocabulary);
    ground_open(&ground, "softmax", 1, 4, 0, 4);
    vocabulary_open(vocabulary, &ground.space, &ground.seen);
    for (int i = 0; i < at->count; i++) {
        const struct written_predicate *const from = &at->term[i];
        struct predicate *const term = &hypothesis.term[i];
        *term =
            (struct predicate){.quantity = quantity_of(vocabulary, from->quantity, from->tile, from->axis),
                               .kind = from->kind,
                               .negated = from->negated,
                               .a = from->a,
                               .b = from->b};
        term->cost = predicate_cost(term, &vocabulary->quantity[term->quantity], vocabulary->space);
    }
    ck_assert(hypothesis_format(vocabulary, &hypothesis, text, sizeof text));
    ck_assert_str_eq(text, at->text);
    free(vocabulary);
    ground_close(&ground);
}
END_TEST

void plain_form_tests(TCase *tcase)
{
    tcase_add_loop_test(tcase, terms_of_one_axis_are_written_as_the_plainest_one, 0,
                        sizeof written / sizeof *written);
}
