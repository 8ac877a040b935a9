/* Clues of C, C++, CUDA and HIP text: the conditions and sizes that stand in it. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "suites.h"
#include "verify/inspect/source_clues.h"

/* All clues, one a line; those of other files and lines are not told apart. */
static void clues_text(const char *text, size_t size, char *out, size_t out_size)
{
    struct clue_list list = {0};
    size_t used = 0;
    out[0] = '\0';
    ck_assert_int_eq(source_clues(&list, text, size, "kernel.cu"), 0);
    for (int i = 0; i < list.count; i++) {
        char line[CLUE_MOST_TERMS * 2 * (CLUE_TEXT_SIZE + 8)];
        clue_format(&list.item[i], line, sizeof line);
        const int length = snprintf(out + used, out_size - used, "%s%s", i ? "\n" : "", line);
        used = used + (size_t)length < out_size ? used + (size_t)length : out_size - 1;
    }
    clue_list_clear(&list);
}

static const struct {
    const char *source, *clues;
} snippets[] = {
    /* comparisons and their conjunctions */
    {"if (n % 128 == 64) f();", "n % 128 == 64"},
    {"return tokens > 65535 ? 1 : run(&r);", "tokens > 65535"},
    {"if (a == 3 && b < 7 || c > 1) f();", "a == 3 and b < 7\nc > 1"},
};

START_TEST(a_snippet_gives_its_clues)
{
    char found[8192];
    clues_text(snippets[_i].source, strlen(snippets[_i].source), found, sizeof found);
    ck_assert_msg(strcmp(found, snippets[_i].clues) == 0, "%s\ngives\n%s\ninstead of\n%s",
                  snippets[_i].source, found, snippets[_i].clues);
}
END_TEST

Suite *inspect_suite(void)
{
    Suite *suite = suite_create("inspect");
    TCase *tcase = tcase_create("snippets");
    tcase_add_loop_test(tcase, a_snippet_gives_its_clues, 0, sizeof snippets / sizeof *snippets);
    suite_add_tcase(suite, tcase);
    return suite;
}
