/* Text that no compiler would take: nothing of it crashes, recurses deeply or takes long. */
#include "source_fixture.h"

#include <time.h>

#include "gen/random/philox.h"
#include "suites.h"

#ifdef SANITIZED
enum { MOST_SECONDS = 20 };
#else
enum { MOST_SECONDS = 2 };
#endif

/* `unit` that many times, with %d numbered, between two other texts. */
static const struct {
    const char *before, *unit, *after;
    int times;
    const char *clue; /* one of the clues; NULL: none needs to be found */
} repeated[] = {
    {"int t[] = {", "%d, ", "}; if (n > 3) f();", 700000, "n > 3"},
    {"int t[][2] = {", "{%d, 7}, ", "};", 300000, NULL},
    {"if (n > 3) f();", "if (a %% 7 == %d && b > 2) f();\n", "", 50000, "a % 7 == 9 and b > 2"},
    {"", "if (a == %d) f(); else ", ";", 50000, "a == 4000"},
    {"", "if (a == %d) ", ";", 50000, "a == 100"},
    {"", "if (a == %d) {", "", 50000, "a == 9"},
    {"x = ", "a == %d ? 2 : ", "3;", 100000, "a == 100"},
    {"x = ", "a ? ", "", 300000, NULL},
    {"if (", "a == %d || ", "b > 1) f();", 100000, "a == 100"},
    {"if (", "(a == %d || b) && ", "c) f();", 100000, NULL},
    {"if (", "a%d + ", "b > 1) f();", 300000, NULL},
    {"x = ", "-", "y > 3;", 1000000, NULL},
    {"x = ", "sizeof ", "y;", 300000, NULL},
    {"x = ", "(int)", "y > 3;", 300000, NULL},
    {"x", " = a%d", ";", 300000, NULL},
    {"int a0 = 1;", "int a%d = a1 * a2 + x;\nif (a%d > 3) f();", "", 50000, NULL},
    {"enum { ", "E%d, ", "}; if (x == E777) f();", 300000, "x == 777"},
    {"", "#define A%d A1\n", "", 100000, NULL},
    {"", "# %d \"%d.h\"\nif (x > 3) f();\n", "", 60000, "x > 3"},
    {"", "#define A /*\n", "", 200000, NULL},
    {"", "\\\n", "", 1000000, NULL},
    {"", "\"\n", "", 1000000, NULL},
    {"", "R\"a(x\n", "", 300000, NULL},
    {"", "(", "", 1000000, NULL},
    {"", "([{<", "", 250000, NULL},
    {"", "}>])", "", 250000, NULL},
    {"", "a<", "", 400000, NULL},
    {"", "k<<<", "", 300000, NULL},
    {"", "if (", "", 300000, NULL},
    {"", "for (;", "", 300000, NULL},
    {"", "switch (x) { case 3: ", "", 100000, NULL},
    {"", "[](int a) { return a > 3 && ", "", 100000, NULL},
    {"", "template <int N = ", "", 200000, NULL},
    {"int f(int a) { return f(f(a)) + f(a); } ", "if (f(f(f(x))) > 3) k();", "", 20000, NULL},
    {"if (a", "b", " > 3) f();", 3000000, NULL},
    {"", "{ int n = a + %d; if (n > 3) f(); ", "", 60000, "a + 9 > 3"},
    {"int m = 7;", "{ int n = a + %d; if (n > m) f(); }", "", 60000, "a + 9 > 7"},
    {"int f() {", "int n%d; n1 = n%d + a; if (n1 > 3) f();", "}", 60000, NULL},
    {"int f() {", "if (a == %d) return; g(b == 3); ", "}", 50000, "a != 0 and b == 3"},
    {"int f() {", "if (a%d || b == 3 || c) return; else { if (d == 4) ", "}", 50000, "d == 4"},
    {"switch (x) {", "case %d: if (y == 1) break; ", "}", 50000, "x == 9 and y == 1"},
    {"", "template <int N = 3> ", "int f() { if (x > N) g(); }", 100000, "x > 3"},
    {"", "struct a%d { enum { B = 3 }; ", "", 100000, NULL},
    {"", "int f%d(int n = 3) { for (int i = n; i < 9; i++) ", "", 60000, NULL},
    {"#define A0 x\n", "#define A%d (A1 + B(%d))\n#define B(x) (A1 + x)\n", "if (A1 > 3) f();", 60000, NULL},
};

static char *repeat(int row, size_t *size)
{
    const size_t most = strlen(repeated[row].before) + strlen(repeated[row].after) +
                        (size_t)repeated[row].times * (strlen(repeated[row].unit) + 16) + 1;
    char *const text = malloc(most);
    char *end = stpcpy(text, repeated[row].before);
    for (int i = 0; i < repeated[row].times; i++)
        end += sprintf(end, repeated[row].unit, i, i);
    *size = (size_t)(stpcpy(end, repeated[row].after) - text);
    return text;
}

START_TEST(repeated_text_is_read_in_time)
{
    size_t size;
    char *const text = repeat(_i, &size);
    char *const found = malloc(1 << 20);
    const clock_t start = clock();
    source_clues_text(text, size, found, 1 << 20);
    const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    ck_assert_msg(seconds < MOST_SECONDS, "%d times '%s' takes %.1f s", repeated[_i].times, repeated[_i].unit,
                  seconds);
    ck_assert_msg(!repeated[_i].clue || strstr(found, repeated[_i].clue), "%d times '%s' does not give %s",
                  repeated[_i].times, repeated[_i].unit, repeated[_i].clue);
    free(found);
    free(text);
}
END_TEST

static uint32_t draw(uint32_t most)
{
    static uint64_t at;
    static uint32_t words[4];
    if (at % 4 == 0)
        philox_words_portable((struct philox_key){.seed = 20261129}, at / 4, 1, words);
    return words[at++ % 4] % most;
}

START_TEST(random_bytes_are_no_error)
{
    char text[4096], found[1024];
    for (int round = 0; round < 300; round++) {
        const size_t size = draw(sizeof text);
        const bool ascii = round % 2;
        for (size_t i = 0; i < size; i++)
            text[i] = (char)(ascii ? ' ' + draw(95) : draw(256));
        source_clues_text(text, size, found, sizeof found);
    }
}
END_TEST

/* clang-format off */
static const char *const words[] = {
    "if", "(", ")", "{", "}", "<", ">", "a", "b", "n", "3", "64", "&&", "||", "?", ":", ";", ",", "=", "==",
    "%", "/", "*", "<<<", ">>>", "for", "[", "]", "::", ".", "->", "int", "\n#define X ", "\n", "+=",
    "!", "enum", "-", "&", "x", "(int)", "static_cast<int>", "switch", "case", "template", "f(", "R\"(",
    "/*", "*/", "//", "dim3", "\n# 3 \"f\" ", "sizeof", "X(a,", "return", "constexpr", "0x", "1e", "'",
    "\\", "{return", "++", "__launch_bounds__(",
    "\"",
};
/* clang-format on */
enum { WORDS = sizeof words / sizeof *words, CLOSED_WORDS = 46 }; /* the rest opens comments and strings */

START_TEST(random_tokens_are_no_error)
{
    char text[8192], found[1024];
    for (int round = 0; round < 500; round++) {
        const uint32_t kinds = round % 3 ? CLOSED_WORDS : WORDS;
        size_t size = 0;
        for (const size_t most = 8 + draw(5000); size < most;)
            size += (size_t)sprintf(text + size, "%s%s", words[draw(kinds)], draw(4) ? " " : "");
        source_clues_text(text, size, found, sizeof found);
    }
}
END_TEST

START_TEST(truncated_sources_are_no_error)
{
    static const char *const paths[] = {"problems/gemm_bf16/fast.cu", "problems/attention/fast.cu",
                                        "verify/inspect/source_tokens.c",
                                        "tests/corpora/bugs/gemm_bf16_partials_of_a_long_k.c"};
    static char text[1 << 16], found[1 << 16], all[1 << 16];
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        FILE *const file = fopen(paths[i], "r");
        ck_assert_msg(file, "%s", paths[i]);
        const size_t size = fread(text, 1, sizeof text, file);
        fclose(file);
        source_clues_text(text, size, all, sizeof all);
        ck_assert_msg(strlen(all) > 40, "%s: %s", paths[i], all);
        for (int round = 0; round < 60; round++)
            source_clues_text(text, draw((uint32_t)size), found, sizeof found);
        for (int round = 0; round < 60; round++) {
            text[draw((uint32_t)size)] = (char)draw(256);
            source_clues_text(text, size, found, sizeof found);
        }
    }
}
END_TEST

TCase *inspect_hostile_case(void)
{
    TCase *tcase = tcase_create("hostile");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, repeated_text_is_read_in_time, 0, sizeof repeated / sizeof *repeated);
    tcase_add_test(tcase, random_bytes_are_no_error);
    tcase_add_test(tcase, random_tokens_are_no_error);
    tcase_add_test(tcase, truncated_sources_are_no_error);
    return tcase;
}
