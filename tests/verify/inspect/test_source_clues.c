/* Clues of C, C++, CUDA and HIP text: the conditions and sizes that stand in it. */
#include "source_fixture.h"

#include <check.h>
#include <string.h>

#include "suites.h"

static const struct {
    const char *source, *clues;
} snippets[] = {
    /* comparisons, and what && and || join */
    {"if (n % 128 == 64) f();", "n % 128 == 64"},
    {"return tokens > 65535 ? 1 : run(&r);", "tokens > 65535"},
    {"if (a == 3 && b < 7 || c > 1) f();", "a != 3 and c <= 1\nb >= 7 and c <= 1\na == 3 and b < 7\nc > 1"},
    {"if (a && (b < 3 || c > 4)) f();", "a != 0 and b < 3\na != 0 and c > 4"},
    {"if (!(a < 3 && b > 4)) f();", "a >= 3\nb <= 4"},
    {"if (64 < n && (n == 5) == false) f();", "n > 64 and n != 5"},
    {"if ((k % 32 == 0) & (n % 4 == 0)) f(); failed |= a > 3;", "k % 32 == 0 and n % 4 == 0\na > 3"},
    {"if (a < b && c > (d)) f();", "a < b and c > d"},
    /* everywhere an expression stands */
    {"assert(m % 4 == 0); const bool ok = n >= 12; f(q[x != 7]);", "m % 4 == 0\nn >= 12\nx != 7"},
    /* narrow types */
    {"int f(P *p) { const int64_t last = len - 1; return (int16_t)last >= (short)t; }",
     "len - 1 > 32767\nt > 32767\nlen - 1 >= t"},
    {"y = (uint16_t)(rows * cols); z = (uint16_t)load(x); for (int i = 0; i < n; i++) a[i] = (short)i;",
     "rows * cols > 65535"},
    /* a function with local names, and members that other code sets */
    {"bool is(const S *v) { const bool one = v->w == 1; (void)v; return one && v->oh > 1; } "
     "void set(S *v) { v->oh = 1; } int f(S v) { if (g > 1 && is(&v)) h(); }",
     "w == 1\nw == 1 and oh > 1\ng > 1 and w == 1 and oh > 1"},
    {"bool is(S *v) { if (v->w == 1) return true; return v->h == 1; } int f(S v) { if (g > 1 && is(&v)) h(); "
     "}",
     "w == 1\nh == 1\nw != 1 and h == 1\ng > 1"},
    {"switch (x) { case 3: f(); break; case B: if (y == 1) g(); default: h(); }",
     "x == 3\nx == B\ny == 1\nx == B and y == 1"},
    {"if constexpr (N == 8) f(); do f(); while (n > 9);", "N == 8\nn > 9"},
    {"v = a > 1 ? 2 : b > 3 ? 4 : c > 5;", "a > 1\nb > 3\nc > 5"},
    {"auto f = [&](int i) -> bool { return n % 3 == 1; };", "n % 3 == 1"},
    {"std::enable_if_t<(N > 32), int> x; int y[] = {n == 9};", "N > 32\nn == 9"},
    {"#pragma omp parallel for if (rows > 512)\nf();", "rows > 512"},
    {"if (__builtin_expect(!!(n > 77), 0)) f();", "n > 77"},
    /* conditions around others */
    {"if (pad == 12) { if (s == 1) { f(q > 3); } else if (s == 2) g(); }",
     "pad == 12\ns == 1\npad == 12 and s == 1\nq > 3\npad == 12 and s == 1 and q > 3\ns == 2\npad == 12 and "
     "s == 2"},
    {"if (a == 1) if (b == 2) f(); if (c == 3) g();", "a == 1\nb == 2\na == 1 and b == 2\nc == 3"},
    {"if (a == 1 || b == 2) f(c > 3); else g(d > 4);",
     "a != 1 and b != 2\na == 1\nb == 2\nc > 3\nd > 4\na != 1 and b != 2 and d > 4"},
    {"if (a > 1) if (a > 2) if (a > 3) if (a > 4) if (a > 5) if (a > 6) if (a > 7) f();",
     "a > 1\na > 2\na > 1 and a > 2\na > 3\na > 1 and a > 2 and a > 3\na > 4\na > 1 and a > 2 and a > 3 and "
     "a > 4\na > 5\na > 1 and a > 2 and a > 3 and a > 4 and a > 5\na > 6\na > 1 and a > 2 and a > 3 and a > "
     "4 and a > 5 and a > 6\na > 7\na > 2 and a > 3 and a > 4 and a > 5 and a > 6 and a > 7"},
    /* early exits, else and cases */
    {"int f() { if (n < 3 || m < 4) return 1; g(k > 5); } int h() { g(k > 6); }",
     "n >= 3 and m >= 4\nn < 3\nm < 4\nk > 5\nn >= 3 and m >= 4 and k > 5\nk > 6"},
    {"int f() { if (a == 1) { g(); exit(2); } g(b == 2); }", "a == 1\nb == 2\na != 1 and b == 2"},
    {"int f() { if (a == 1) return 1; else if (b == 2) throw e; g(c == 3); }",
     "a == 1\nb == 2\na != 1 and b == 2\nc == 3\na != 1 and b != 2 and c == 3"},
    {"int f() { if (a == 1 && b == 2) return 1; g(c == 3); if (d == 4) k(); g(e == 5); }",
     "a == 1 and b == 2\nc == 3\nd == 4\ne == 5"},
    {"int f() { for (;;) { if (a == 1) break; g(b == 2); } g(c == 3); for (;;) if (d == 4) continue; g(e == "
     "5); }",
     "a == 1\nb == 2\na != 1 and b == 2\nc == 3\nd == 4\ne == 5"},
    {"int f() { if (a == 1) goto done; g(b == 2); done: g(c == 3); }",
     "a == 1\nb == 2\na != 1 and b == 2\nc == 3"},
    {"int f() { if (a == 1) k(); else g(b == 2); g(c == 3); }", "a == 1\nb == 2\na != 1 and b == 2\nc == 3"},
    {"int f() { if (p == 1) { if (a > 9) return 1; g(a == 2); g(a > 3); } }",
     "p == 1\na > 9\np == 1 and a > 9\na == 2\np == 1 and a == 2\na > 3\np == 1 and a > 3\np == 1 and a <= 9 "
     "and a > 3"},
    {"if (a == 1) return; g(b == 2);", "a == 1\nb == 2"},
    {"switch (x) { case 3: if (a == 1) break; g(b == 2); case 4: g(c == 3); break; default: g(d == 4); }",
     "x == 3\na == 1\nx == 3 and a == 1\nb == 2\nx == 3 and b == 2\nx == 3 and a != 1 and b == 2\nx == 4\nc "
     "== 3\nx == 4 and c == 3\nd == 4"},
    {"if (n == 1) switch (x) { case 3: switch (y) { case 4: g(b == 2); } g(c == 3); } g(d == 4);",
     "n == 1\nx == 3\nn == 1 and x == 3\ny == 4\nn == 1 and x == 3 and y == 4\nb == 2\nn == 1 and x == 3 and "
     "y == 4 and b == 2\nc == 3\nn == 1 and x == 3 and c == 3\nd == 4"},
    {"switch (x) { case 3: switch (y) { case 4: k(); } case 5: g(b == 2); }",
     "x == 3\ny == 4\nx == 3 and y == 4\nx == 5\nb == 2\nx == 5 and b == 2"},
    {"int f() { if (a == 1) for (i = 0; i < n; i++) { return 1; } g(b == 2); }", "a == 1\nb == 2"},
    {"int f() { if (a == 1) return 1; if (a < 9) k(); }", "a == 1\na < 9\na != 1 and a < 9"},
    /* expressions in the grammar of constraints */
    {"if (x & 63) f(); if ((x & 1) == 0) g(); if (x >> 3 == 5) h(); if ((x << 2) > 9) i();",
     "x % 64 != 0\nx % 2 == 0\nx / 8 == 5\nx * 4 > 9"},
    {"if (a << 2 > 9 && 1 << 4 < n) f();", "a * 4 > 9 and n > 16"},
    {"if ((int64_t)v->oh * static_cast<int>(p.cols) > 64L) f();", "oh * cols > 64"},
    {"if (n > 0x40u || n < 1'024 || n == 1e3 || n == 0b101 || n == 010 || n > 1.5 || n < 2.f) f();",
     "n <= 64 and n >= 1024 and n != 1000 and n != 5 and n != 8\nn > 64\nn < 1024\nn == 1000\nn == 5\nn == "
     "8"},
    {"if (n * sizeof(float) > 49152 || n * sizeof(__nv_bfloat16) > 10 || n * sizeof(unsigned long long) > 7 "
     "|| n * sizeof(T) > 8 || n * sizeof(T *) > 9) f();",
     "n * 4 <= 49152 and n * 2 <= 10 and n * 8 <= 7 and ? <= 8 and n * 8 <= 9\nn * 4 > 49152\nn * 2 > 10\nn "
     "* 8 > 7\n? > 8\nn * 8 > 9"},
    {"if (min(a, 3) < 4 || t[i] == 7 || blockIdx.x + 5 < n) f();",
     "? >= 4 and ? != 7 and ? + 5 >= n\n? < 4\n? == 7\n? + 5 < n"},
    {"if (!x) f(); if (x) g(); if (!(x % 4)) h(); if (x % 4) i();", "x == 0\nx != 0\nx % 4 == 0\nx % 4 != 0"},
    {"if (k > group) f(); if (k > t[i]) g(); if (ptr == nullptr || *p == 0) h();", "k > group"},
    {"if ((a + b) * (c - (d - 1)) > -3 && a - (b + 4) < 2 && -(a + 1) < 5) f();",
     "(a + b) * (c - (d - 1)) > -3 and a - (b + 4) < 2 and -(a + 1) < 5"},
    {"if (rows * cols > std::numeric_limits<int>::max() || n > INT_MAX) f();",
     "rows * cols <= 2147483647 and n <= 2147483647\nrows * cols > 2147483647\nn > 2147483647"},
    {"if (std::max<int>(a, b) > 3 && v.size() == 8 && Traits<T>::kBlock > 4 && ns::m > 2) f();",
     "? > 3 and ? == 8 and kBlock > 4 and m > 2"},
    {"if ((float *)p > 3 && (T)x > 4 && (n) - 3 > 5 && int64_t(y) > 6) f();",
     "? > 3 and x > 4 and n - 3 > 5 and y > 6"},
    {"if (9223372036854775807 > n && n < 99999999999999999999) f();", "n < 9223372036854775807"},
    /* definitions */
    {"constexpr int BM = 64; static const int BN = 2 * BM; if (n >= BN) f();", "n >= 128"},
    {"enum { A = 3, B, C, D = 10, E }; if (n == C || m == E) f();", "n != 5 and m != 11\nn == 5\nm == 11"},
    {"#define TILE 32\n#define TWICE (2 * TILE)\nif (n > TWICE) f(); // n > 99\n/* if (n > 98) */ char *s = "
     "\"n > 97\", *r = R\"x(n > 96)x\";",
     "n > 64"},
    {"#define LONG \\\n 77\n#if N > 3\nif (a > LONG) f();\n#else\nif (b > 6) f();\n#endif\n",
     "a > 77\nb > 6"},
    {"template <int N = 64> void k(int n) { if (n > N) f(); }", "n > 64"},
    {"template <int N> void k(int n) { if (n > N + 1) f(); } constexpr int N = 4;", "n > N + 1"},
    {"int h = cols / 8, w = h + 1; if (h % 4 == 0 && w * 2 < 100) f();",
     "cols tile 8\ncols / 8 % 4 == 0 and (cols / 8 + 1) * 2 < 100"},
    {"int h = cols / 8; h++; if (h % 4 == 0) f();", "cols tile 8\nh % 4 == 0"},
    {"int h = cols / 8; g(&h); if (h % 4 == 0) f();", "cols tile 8\nh % 4 == 0"},
    {"int h = 8; if (x) h = 16; if (n % h == 2) f();", "x != 0\nn % h == 2"},
    {"int h = 8; if (n % h == 2) f(); int h = 8;", "n % 8 == 2"},
    {"const bool narrow = k % 32 != 0; if (narrow && m > 1) f(); if (!narrow) g();",
     "k % 32 != 0\nk % 32 != 0 and m > 1\nk % 32 == 0"},
    {"int a = f(x); if (a > 3 && a > b) g();", "a > 3 and a > b"},
    {"int a = b * 2; int b = a * 3; if (a > 1000) g();", "a > 1000"},
    /* definitions in their scopes */
    {"int f(int n) { int len = t[i], pages = (len + s - 1) / s; if (pages * s >= 256) g(); } int h() { int "
     "len = 3, pages = 4, s; }",
     "(len + s - 1) / s * s >= 256"},
    {"int f() { int h = a / 8; if (h > 3) k(); } int g() { int h = a / 4; if (h > 5) k(); }",
     "a tile 8\na / 8 > 3\na tile 4\na / 4 > 5"},
    {"int f() { int h = a / 8; { int h = b / 4; if (h > 5) k(); } if (h > 3) k(); }",
     "a tile 8\nb tile 4\nb / 4 > 5\na / 8 > 3"},
    {"int f() { int h = a / 8; if (x) { h = 3; } if (h > 3) k(); }", "a tile 8\nx != 0\nh > 3"},
    {"enum { N = 4 }; int f(int N) { if (x > N) k(); } int g() { if (y > N) k(); }", "x > N\ny > 4"},
    {"const int N = 64; int f() { const int N = 32; if (x > N) k(); } int g() { if (y > N) k(); }",
     "x > 32\ny > 64"},
    {"template <int N> int f() { if (x > N) k(); } constexpr int N = 4; int g(const T *N) { if (z > N) k(); "
     "}",
     "x > N\nz > N"},
    {"struct A { static constexpr int N = 4; }; struct B { int N; }; int f() { int n = 3; if (x > A::N && "
     "p->n > 5) k(); }",
     "x > 4 and n > 5"},
    {"int f() { for (int i = 0; i < n; i++) { if (a[i] > 9) k(); } } int g(int i) { if (i > 7) k(); }",
     "? > 9\ni > 7"},
    {"#define WIDE (n > TILE)\nint f() { const int TILE = 32; if (WIDE) k(); } int g() { const int TILE = "
     "64; if (WIDE) k(); }",
     "n > TILE\nn > 32\nn > 64"},
    {"#define OVER(x) ((x) > TILE)\nint f() { const int TILE = 32; if (OVER(n)) k(); } int g() { const int "
     "TILE = 64; if (OVER(m)) k(); }",
     "x > TILE\nn > 32\nm > 64"},
    {"int tiles = (load(x) + 63) / 64, blocks = load(y), both = f(x) * 8 + g(x); if (tiles > 4 && blocks > 5 "
     "&& both > 6) k();",
     "? tile 64\n(? + 63) / 64 > 4 and blocks > 5 and both > 6"},
    {"int rows = load(x) + 1; y = (rows + 127) / 128;", "rows tile 128"},
    {"const int h = 7; int f() { if (x > h) k(); const int h = 4; if (y > h) k(); }", "x > 7\ny > 4"},
    {"int f() { int n = 3; p->n = 4; g(m < n, p->n > 5); }", "m < 3\nn > 5"},
    {"int h = 7; int f() { int h; h = read(); if (x > h) k(); } int g() { if (y > h) k(); }", "x > h\ny > 7"},
    {"int f() {\n#define T 32\n g(); } int h() { if (x > T) k(); }", "x > 32"},
    {"struct A { static constexpr int N = 4; }; int f(int N) { if (x > A::N) k(); }", "x > 4"},
    {"bool over(int v) { return v > 3; }\n#define OVER(x) over((x) * TILE)\nint f() { const int TILE = 32; "
     "if (OVER(n)) k(); } int g() { const int TILE = 64; }",
     "v > 3\nx * TILE > 3\nn * 32 > 3"},
    {"int f() { T p = a / 8; *p = 3; if (p > 4) k(); }", "a tile 8\na / 8 > 4"},
    /* functions and macros that only return an expression */
    {"bool plain(const struct c *v) { return v->s == 1 && v->d == 1; } int f() { return kh == 3 && "
     "plain(&v); }",
     "s == 1 and d == 1\nkh == 3 and s == 1 and d == 1"},
    {"int cd(int a, int b) { return (a + b - 1) / b; } void f(int n) { if (cd(cd(n, 4), 2) == 3) k(); }",
     "n tile 4\n((n + 3) / 4 + 1) / 2 == 3"},
    {"#define CEIL(a, b) (((a) + (b) - 1) / (b))\nif (CEIL(n, 128) == 3) f();", "(n + 127) / 128 == 3"},
    {"bool g(int b); bool g(int b) { return b == 3; } int h() { return g(x); }", "b == 3\nx == 3"},
    {"int f(int n) { return f(n - 1); } int g() { return f(4) > 5; }", "? > 5"},
    /* tiles */
    {"y = (cols + 127) / 128; z = (63 + n) / 64; w = x % 16; v = y / 1;",
     "cols tile 128\nn tile 64\nx tile 16"},
    {"constexpr int BM = 64; y = (cols + BM - 1) / BM;", "cols tile 64"},
    {"x += 64; y = y + 32; z /= 8; w = (w + 15) & ~15; u = blockIdx.x * 256;",
     "? tile 64\n? tile 32\n? tile 8\nw tile 16\n? tile 256"},
    {"__shared__ float t[32][33]; x = t[3];", "? tile 32\n? tile 33"},
    {"k<<<(n + 127) / 128, 256, 0, s>>>(a); dim3 b(16, 8), c = dim3(4); dim3 d{2};",
     "n tile 128\n? tile 256\n? tile 16\n? tile 8\n? tile 4\n? tile 2"},
    {"template <int N> __global__ __launch_bounds__(512, 2) void k(); k<128, 64>(a); A<32>::f();",
     "? tile 512\n? tile 128\n? tile 64\n? tile 32"},
    {"x = y / 2.0f + 0.5 * z; w = v / 1099511627776; u = t / 1;", ""},
    {"int sizes[] = {64, 128, 256}; int other[] = {3, 1, 2};", "? tile 64\n? tile 128\n? tile 256"},
    /* loops */
    {"for (int i = 0; i < n; i++) if (n > 5) g();", "n > 5"},
    {"for (int i = 0; i < 64; i += 8) g();", "? tile 64\n? tile 8"},
    {"for (int i = 0; i < k; i += 32) g();", "k tile 32"},
    {"for (int k = 0; k < g->k; k++) f(); if (k > 512) g();", "k > 512"},
    {"int f() { for (int i = 0; i < n; i++) if (i == 40) k(); }", "? tile 40"},
    {"int f() { for (int i = 0; i < n; i++) { int s = n / 4; if (i < s && i + s < m) k(); } }",
     "n tile 4\ni + n / 4 < m"},
    {"while (i < n) i++; while (j + i < m) j += 2;", "? tile 2"},
    {"for (auto &x : list) if (x.n == 4) f();", "n == 4"},
};

START_TEST(a_snippet_gives_its_clues)
{
    char found[4096];
    source_clues_text(snippets[_i].source, strlen(snippets[_i].source), found, sizeof found);
    ck_assert_msg(strcmp(found, snippets[_i].clues) == 0, "%s\ngives\n%s\ninstead of\n%s",
                  snippets[_i].source, found, snippets[_i].clues);
}
END_TEST

/* File and line of each clue. */
static void assert_places(const char *source, const char *expected)
{
    struct clue_list list = {0};
    char found[512] = "";
    ck_assert_int_eq(source_clues(&list, source, strlen(source), "a/kernel.cu"), 0);
    for (int i = 0; i < list.count; i++) {
        char text[128];
        clue_format(&list.item[i], text, sizeof text);
        const size_t used = strlen(found);
        snprintf(found + used, sizeof found - used, "%s:%d %s;", list.item[i].file, list.item[i].line, text);
    }
    clue_list_clear(&list);
    ck_assert_str_eq(found, expected);
}

START_TEST(line_markers_name_the_place_of_a_clue)
{
    assert_places("# 1 \"a/kernel.cu\"\n"
                  "# 1 \"<built-in>\"\nif (n > 90) f();\n"
                  "# 6 \"a/\033\xff.h\" 1\nif (n > 6) f();\n"
                  "# 7 \"a/tiles.cuh\" 1\nif (n > 7) f();\n\nif (n > 9) f();\n"
                  "# 20 \"/usr/include/math.h\" 1 3 4\nif (n > 91) f();\n"
                  "# 30 \"sys.h\" 1 3\nif (n > 92) f();\n"
                  "# 4 \"a/kernel.cu\" 2\nif (n > 4) f();\n#pragma once\nif (m > 6) f();\n",
                  "??.h:6 n > 6;tiles.cuh:7 n > 7;tiles.cuh:9 n > 9;:4 n > 4;:6 m > 6;");
}
END_TEST

START_TEST(lines_are_counted_in_plain_text)
{
    assert_places("/* one\n two */ // three \\\n four\n#define A \\\n 3\nchar *s = \"\\\n\";\nif (n > A)\n "
                  "f(R\"(\n)\", m > 4);\n",
                  ":8 n > 3;:10 m > 4;:10 n > 3 and m > 4;");
}
END_TEST

START_TEST(both_branches_of_an_if_may_open_a_block)
{
    assert_places("int f(int a)\n{\n#if X\n    if (a == 1) {\n#else\n    if (a == 2) {\n#endif\n"
                  "        g();\n    }\n    return c == 4;\n}\n"
                  "int h(int b)\n{\n    return b == 3;\n}\n",
                  ":4 a == 1;:6 a == 2;:6 a == 1 and a == 2;:10 c == 4;:14 b == 3;");
}
END_TEST

START_TEST(a_list_holds_each_clue_once_up_to_its_limit)
{
    struct clue_list list = {0};
    char *const text = malloc(CLUE_MOST * 80), *end = text;
    for (int i = 1; i < CLUE_MOST; i++)
        end += sprintf(end, "if (n > %d) f(); if (%d < n) f(); if (m > 5) g();", i, i);
    ck_assert_int_eq(source_clues(&list, text, (size_t)(end - text), NULL), 0);
    ck_assert(list.count == CLUE_MOST && !list.truncated);
    ck_assert_int_eq(source_clues(&list, "if (n > 7) f();", 15, NULL), 0);
    ck_assert(list.count == CLUE_MOST && !list.truncated);
    ck_assert_int_eq(source_clues(&list, "if (n > 5000) f();", 18, NULL), 0);
    ck_assert(list.truncated);
    free(text);
    ck_assert_int_eq(list.count, CLUE_MOST);
    clue_list_clear(&list);
}
END_TEST

Suite *inspect_suite(void)
{
    Suite *suite = suite_create("inspect");
    TCase *tcase = tcase_create("snippets");
    tcase_add_loop_test(tcase, a_snippet_gives_its_clues, 0, sizeof snippets / sizeof *snippets);
    tcase_add_test(tcase, line_markers_name_the_place_of_a_clue);
    tcase_add_test(tcase, lines_are_counted_in_plain_text);
    tcase_add_test(tcase, both_branches_of_an_if_may_open_a_block);
    tcase_add_test(tcase, a_list_holds_each_clue_once_up_to_its_limit);
    suite_add_tcase(suite, tcase);
    suite_add_tcase(suite, inspect_hostile_case());
    suite_add_tcase(suite, inspect_bugs_case());
    return suite;
}
