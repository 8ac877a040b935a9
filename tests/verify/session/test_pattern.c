/* Which elements are wrong, in words and as a map. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "verify/session/pattern.h"
#include "suites.h"

/* A 2-D output in which an element is wrong where `is` is true. */
static struct pattern of(int64_t rows, int64_t cols,
                         bool (*is)(int64_t r, int64_t c, int64_t rows, int64_t cols))
{
    const int64_t dim[] = {rows, cols};
    struct pattern pattern;
    unsigned char *wrong = calloc((size_t)(rows * cols), 1);
    ck_assert_ptr_nonnull(wrong);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++)
            wrong[r * cols + c] = is(r, c, rows, cols);
    pattern_describe(wrong, dim, 2, "[m, n]", &pattern);
    free(wrong);
    return pattern;
}

static bool never(int64_t r, int64_t c, int64_t rows, int64_t cols)
{
    return r < 0 && c + rows + cols < 0;
}
static bool always(int64_t r, int64_t c, int64_t rows, int64_t cols)
{
    return r + c >= 0 && rows + cols > 0;
}
static bool last_row(int64_t r, int64_t c, int64_t rows, int64_t cols)
{
    return r == rows - 1 && c < cols;
}
static bool last_columns(int64_t r, int64_t c, int64_t rows, int64_t cols)
{
    return c >= cols - 3 && r < rows;
}
static bool a_tile(int64_t r, int64_t c, int64_t rows, int64_t cols)
{
    return r >= 64 && r < 128 && c >= 32 && c < 64 && rows + cols > 0;
}
static bool every_fourth(int64_t r, int64_t c, int64_t rows, int64_t cols)
{
    return c % 4 == 1 && r < rows && c < cols;
}
static bool one_in_1000(int64_t r, int64_t c, int64_t rows, int64_t cols)
{
    return (uint32_t)(r * cols + c + rows) * 2654435761u >> 22 == 5;
}

static const struct {
    bool (*is)(int64_t, int64_t, int64_t, int64_t);
    int64_t rows, cols;
    const char *text, *row;
    int at;
} cases[] = {
    {always, 5, 7, "all elements", "#######", 0},
    {last_row, 5, 7, "the last of 5 along m", "#######", 4},
    {last_columns, 4, 1027, "the last 3 of 1027 along n", "...............................................o",
     0},
    {a_tile, 256, 128, "64 to 127 of 256 along m, 32 to 63 of 128 along n", NULL, 0},
    {every_fourth, 3, 64, "1 to 61 of 64 along n, every index along n that is 1 mod 4", NULL, 0},
    {one_in_1000, 100, 100, "about one in", NULL, 0},
};

START_TEST(a_pattern_is_said_in_words_and_drawn)
{
    const struct pattern pattern = of(cases[_i].rows, cases[_i].cols, cases[_i].is);
    ck_assert(pattern.present);
    ck_assert_msg(strstr(pattern.text, cases[_i].text) != NULL, "'%s' lacks '%s'", pattern.text,
                  cases[_i].text);
    if (cases[_i].row)
        ck_assert_str_eq(pattern.map[cases[_i].at], cases[_i].row);
}
END_TEST

START_TEST(a_map_shows_a_tile_where_it_is)
{
    const struct pattern pattern = of(256, 96, a_tile); /* 8 x 48 rectangles of 32 x 2 */
    for (int r = 0; r < 8; r++)
        for (int c = 0; c < 48; c++)
            ck_assert_int_eq(pattern.map[r][c], r / 2 == 1 && c / 16 == 1 ? '#' : '.');
}
END_TEST

START_TEST(no_wrong_element_is_no_pattern)
{
    ck_assert(!of(5, 7, never).present);
}
END_TEST

Suite *pattern_suite(void)
{
    Suite *suite = suite_create("pattern");
    TCase *tests = tcase_create("pattern");
    tcase_add_loop_test(tests, a_pattern_is_said_in_words_and_drawn, 0, sizeof cases / sizeof *cases);
    tcase_add_test(tests, a_map_shows_a_tile_where_it_is);
    tcase_add_test(tests, no_wrong_element_is_no_pattern);
    suite_add_tcase(suite, tests);
    return suite;
}
