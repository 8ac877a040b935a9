/* unseen verify on a kernel that fails with some values and passes with others: the deciding values, and the
 * line that shows them. */
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A softmax that is right except for `max`, its idea of the greatest value of row x. */
static void put_softmax(const char *name, const char *max)
{
    char text[2048];
    snprintf(text, sizeof text,
             "#include <math.h>\n#include <stdint.h>\n"
             "static float greatest(const float *x, int64_t n)\n"
             "{ float m = -INFINITY; for (int64_t c = 0; c < n; c++) m = x[c] > m || isnan(x[c]) ? x[c] : m;"
             " return m; }\n"
             "int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)\n"
             "{ (void)stream; for (int64_t r = 0; r < rows; r++, x += cols, y += cols) {\n"
             "  double sum = 0; const float max = %s;\n"
             "  for (int64_t c = 0; c < cols; c++) sum += y[c] = expf(x[c] - max);\n"
             "  for (int64_t c = 0; c < cols; c++) y[c] /= (float)sum; }\n"
             " return 0; }\n",
             max);
    cli_put(name, text);
}

/* diagnosis.content of a run with these input classes. */
static json_t *verify(const char *kernel, const char *inputs)
{
    char space[160];
    snprintf(space, sizeof space, "rows 1..8 tile 4\ncols 1..96 tile 4 32\ninput %s\n", inputs);
    cli_put("values.space", space);
    cli_put("values.seen", "rows=4 cols=64 input=normal\n");
    CLI("verify", "-v", "softmax", kernel, "--device", "host", "--contract", "values.space", "--seen",
        "values.seen", "--no-timing", "--seed", "3", "--unseen", "40", "--effort", "quick", "--json",
        "r.json");
    json_t *root = cli_json("r.json");
    json_t *content = json_object_get(json_object_get(root, "diagnosis"), "content");
    ck_assert_ptr_nonnull(content);
    json_incref(content);
    json_decref(root);
    return content;
}

static const char *word(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static void expect_special(const json_t *content, const char *part)
{
    ck_assert_msg(strstr(word(content, "special"), part) != NULL, "no \"%s\" in %s", part,
                  word(content, "special"));
}

/* As the report prints it: with the kept elements it fails, without them it passes. */
static void expect_repeats(const char *problem, const char *kernel, const json_t *content)
{
    char without[400];
    snprintf(without, sizeof without, "%s", word(content, "values"));
    ck_assert_ptr_nonnull(strstr(without, " keep="));
    CLI("check", problem, kernel, word(content, "config"), "--values", without, "--device", "host");
    cli_expect(1, "wrong: ");
    *strstr(without, " keep=") = '\0';
    CLI("check", problem, kernel, word(content, "config"), "--values", without, "--device", "host");
    cli_expect(0, "pass: ");
}

/* The two numbers of "clipped to at most A, x passes; to B, it fails". */
static void expect_bound(const json_t *content, const char *to, double bound, double most)
{
    const char *const text = strstr(word(content, "special"), to);
    double passes, fails;
    ck_assert_msg(text != NULL, "no \"%s\" in %s", to, word(content, "special"));
    ck_assert_int_eq(sscanf(text + strlen(to), " %lf, %*s passes; to %lf", &passes, &fails), 2);
    ck_assert_double_le(fmin(passes, fails), bound);
    ck_assert_double_ge(fmax(passes, fails), bound < 0 ? most : bound);
    ck_assert_double_le(fmax(fabs(passes), fabs(fails)), fabs(most));
}

START_TEST(a_maximum_without_its_tail_is_told_by_the_value_in_the_tail)
{
    put_softmax("tail.c", "greatest(x, cols > 4 ? cols - cols % 4 : cols)");
    json_t *content = verify("tail.c", "normal peak");
    const json_t *item = json_array_get(json_object_get(content, "items"), 0);
    ck_assert_str_eq(word(content, "kind"), "least");
    ck_assert_int_eq(json_integer_value(json_object_get(content, "elements")), 1);
    ck_assert_int_eq(json_array_size(json_object_get(content, "items")), 1);
    ck_assert_double_gt(json_number_value(json_object_get(item, "failing")), 80);
    ck_assert_double_lt(json_number_value(json_object_get(item, "passing")), 80);
    expect_special(content, "the greatest of its row");
    expect_special(content, " elements along cols, which tiles of 4 leave over");
    expect_special(content, "the same value at x[0,0] passes");
    expect_special(content, " still passes, ");
    cli_expect(1, "  values      The input values decide. With the values of ");
    cli_expect(1, " instead of ");
    cli_expect(1, " --values '");
    expect_repeats("softmax", "tail.c", content);
    json_decref(content);
}
END_TEST

/* At a place in a tail, too, although the place is not the reason. */
START_TEST(a_value_that_fails_elsewhere_too_is_not_told_by_its_place)
{
    put_softmax("none.c", "cols > 4 ? 0 : greatest(x, cols)");
    json_t *content = verify("none.c", "normal peak");
    ck_assert_str_eq(word(content, "config"), "rows=1 cols=5 input=peak seed=1");
    ck_assert_str_eq(word(content, "places"), "x[0,4]");
    expect_special(content, "the same value at x[0,0] fails, too");
    ck_assert_ptr_null(strstr(word(content, "special"), " % "));
    json_decref(content);
}
END_TEST

/* NaN is passed over, so it is right wherever there is none. */
START_TEST(one_nan_is_told_wherever_it_stands)
{
    put_softmax("nan.c", "greatest(x, cols); if (isnan(max)) { for (int64_t c = 0; c < cols; c++) y[c] = 0;"
                         " continue; }");
    json_t *content = verify("nan.c", "normal special");
    const json_t *item = json_array_get(json_object_get(content, "items"), 0);
    ck_assert_str_eq(word(content, "kind"), "least");
    ck_assert_int_eq(json_integer_value(json_object_get(content, "elements")), 1);
    ck_assert_str_eq(word(item, "failing"), "nan");
    ck_assert_ptr_null(strstr(word(content, "special"), " % "));
    expect_repeats("softmax", "nan.c", content);
    json_decref(content);
}
END_TEST

START_TEST(of_what_fails_with_any_values_nothing_is_said_of_them)
{
    put_softmax("plain.c", "greatest(x, cols) + (cols > 4 && (y[cols - 1] = 0) == 0 ? NAN : 0)");
    json_t *content = verify("plain.c", "normal integers");
    ck_assert(json_is_null(content));
    cli_expect(1, "smallest    rows=1 cols=5 ");
    cli_expect_without("  values ");
    cli_expect_without(" --values");
    json_decref(content);
}
END_TEST

/* Six calls are wrong, three right, whatever the values are. Then the first of three is right, which no check
 * sees alone. */
START_TEST(of_what_comes_and_goes_no_values_are_blamed)
{
    put_softmax("race.c", "greatest(x, cols); static unsigned calls; calls += r == 0 && cols > 4;"
                          " if (cols > 4 && (calls + 2) / 3 % 3 != 0) sum = 1");
    json_t *content = verify("race.c", "normal integers");
    cli_expect(1, "cols > 4 (");
    cli_expect(1, "the same configuration fails in ");
    ck_assert(json_is_null(content));
    json_decref(content);
    put_softmax("often.c", "greatest(x, cols); static unsigned calls; calls += r == 0 && cols > 4;"
                           " if (cols > 4 && calls % 4 != 1) sum = 1");
    content = verify("often.c", "normal integers");
    cli_expect(1, "smallest    rows=1 cols=5 ");
    ck_assert(json_is_null(content));
    json_decref(content);
}
END_TEST

/* Labels decide, which are no values to blend. */
START_TEST(tensors_that_are_coupled_are_named_and_left_alone)
{
    char text[2048];
    snprintf(
        text, sizeof text,
        "#define cross_entropy honest\n#include \"%s\"\n#undef cross_entropy\n"
        "int cross_entropy(const bf16 *x, const int64_t *labels, float *loss, float *row_loss, float *lse,"
        " int64_t rows, int64_t vocab, int64_t pitch, int64_t ignored, void *stream)\n"
        "{ const int r = honest(x, labels, loss, row_loss, lse, rows, vocab, pitch, ignored, stream);\n"
        "  if (labels[0] %% 2 == 1) row_loss[0] += 1; return r; }\n",
        cli_repository("problems/cross_entropy/baseline.c"));
    cli_put("labels.c", text);
    cli_put("ce.space",
            "rows 1..4\nvocab 8..64 tile 32\npad 0\nignore published\nignored none\nlabels spread\n"
            "input normal\n");
    cli_put("ce.seen", "rows=2 vocab=32 pad=0\n");
    CLI("verify", "-v", "cross_entropy", "labels.c", "--device", "host", "--contract", "ce.space", "--seen",
        "ce.seen", "--no-timing", "--seed", "3", "--unseen", "30", "--effort", "quick", "--json", "r.json");
    json_t *root = cli_json("r.json");
    const json_t *content = json_object_get(json_object_get(root, "diagnosis"), "content");
    ck_assert_str_eq(word(content, "kind"), "structure");
    ck_assert_str_eq(word(content, "places"), "labels");
    cli_expect(1, "  values      The failure comes from labels, not from other inputs");
    json_decref(root);
}
END_TEST

/* A weight of 15 is read as 7. */
START_TEST(a_byte_of_two_weights_is_told_by_both)
{
    char text[2048];
    snprintf(
        text, sizeof text,
        "#define gemm_w4a16 honest\n#include \"%s\"\n#undef gemm_w4a16\n"
        "int gemm_w4a16(const bf16 *x, const uint8_t *w_q, const bf16 *scales, const bf16 *zeros, bf16 *y,"
        " int64_t m, int64_t n, int64_t k, int64_t group, void *stream)\n"
        "{ uint8_t *w = malloc((size_t)(k / 2 * n));\n"
        "  for (int64_t i = 0; i < k / 2 * n; i++) w[i] = (w_q[i] & 15) == 15 ? w_q[i] & ~8 : w_q[i];\n"
        "  const int r = honest(x, w, scales, zeros, y, m, n, k, group, stream); free(w); return r; }\n",
        cli_repository("problems/gemm_w4a16/baseline.c"));
    cli_put("w4.c", text);
    cli_put("w4.space", "m 1..4\nn 1..16\nk 2..32\ngroup 32\nzero drawn\ninput normal\nlimit k % 2 == 0\n");
    cli_put("w4.seen", "m=2 n=2 k=2 group=32\n");
    CLI("verify", "-v", "gemm_w4a16", "w4.c", "--device", "host", "--contract", "w4.space", "--seen",
        "w4.seen", "--no-timing", "--seed", "3", "--unseen", "30", "--effort", "quick", "--json", "r.json");
    json_t *root = cli_json("r.json");
    const json_t *content = json_object_get(json_object_get(root, "diagnosis"), "content");
    ck_assert_int_eq(strncmp(word(content, "places"), "w_q[", 4), 0);
    expect_special(content, "nibbles 15 (low) and ");
    json_decref(root);
}
END_TEST

/* diagnosis.content of of.c, a kernel of another problem. */
static json_t *verify_of(const char *problem, const char *space, const char *seen)
{
    cli_put("of.space", space);
    cli_put("of.seen", seen);
    CLI("verify", "-v", problem, "of.c", "--device", "host", "--contract", "of.space", "--seen", "of.seen",
        "--no-timing", "--seed", "3", "--unseen", "30", "--effort", "quick", "--json", "r.json");
    json_t *root = cli_json("r.json");
    json_t *content = json_object_get(json_object_get(root, "diagnosis"), "content");
    ck_assert_ptr_nonnull(content);
    json_incref(content);
    json_decref(root);
    return content;
}

/* Another decay of the same seed changes only g. The report names g, and the bound to which it was
 * clipped. */
START_TEST(a_choice_that_passes_names_the_tensor_and_a_bound_its_values)
{
    char text[2048];
    snprintf(text, sizeof text,
             "#define kda honest\n#include \"%s\"\n#undef kda\n"
             "int kda(const bf16 *q, const bf16 *k, const bf16 *v, const float *g, const bf16 *beta, bf16 *o,"
             " int64_t batch, int64_t t, int64_t heads, int64_t dk, int64_t dv, void *stream)\n"
             "{ const int64_t n = batch * t * heads * dk; float *h = malloc((size_t)n * sizeof *h);\n"
             "  for (int64_t i = 0; i < n; i++) h[i] = fmaxf(g[i], -1);\n"
             "  const int r = honest(q, k, v, h, beta, o, batch, t, heads, dk, dv, stream); free(h); return "
             "r; }\n",
             cli_repository("problems/kda/baseline.c"));
    cli_put("of.c", text);
    json_t *content = verify_of("kda",
                                "batch 1..2\nt 1..4\nheads 1..2\ndk 64\ndv 64\ndecay published strong\n"
                                "beta sigmoid\ninput normal\n",
                                "batch=1 t=2 heads=1 dk=64 dv=64\n");
    ck_assert_int_eq(strncmp(word(content, "passing"), "decay=published ", 16), 0);
    ck_assert_int_eq(strncmp(word(content, "places"), "g[", 2), 0);
    expect_bound(content, "clipped to at least", -1, -1.3);
    expect_repeats("kda", "of.c", content);
    json_decref(content);
}
END_TEST

/* A layer norm that is wrong in rows of more than `most` columns c for which `which` holds. */
static void put_norm(int most, const char *which)
{
    char text[2048];
    snprintf(text, sizeof text,
             "#define layer_norm honest\n#include \"%s\"\n#undef layer_norm\n"
             "int layer_norm(const float *x, const float *gamma, const float *beta, float *y, float *mean,"
             " float *rstd, int64_t rows, int64_t cols, float eps, void *stream)\n"
             "{ const int r = honest(x, gamma, beta, y, mean, rstd, rows, cols, eps, stream);\n"
             "  for (int64_t i = 0; i < rows; i++) { int64_t count = 0;\n"
             "    for (int64_t c = 0; c < cols; c++) count += %s;\n"
             "    if (count > %d) mean[i] += 1; }\n"
             "  return r; }\n",
             cli_repository("problems/layer_norm/baseline.c"), which, most);
    cli_put("of.c", text);
}

static const char norm_space[] = "rows 1..4\ncols 36..96\neps published\ninput normal offset\n",
                  norm_seen[] = "rows=2 cols=48 input=normal\n";

/* Their choice does not matter: there are more than may be listed. */
START_TEST(several_values_are_told_by_the_side_that_they_lie_on)
{
    put_norm(6, "x[i * cols + c] > 5");
    json_t *content = verify_of("layer_norm", norm_space, norm_seen);
    ck_assert_str_eq(word(content, "kind"), "least");
    ck_assert_int_eq(json_integer_value(json_object_get(content, "elements")), 7);
    expect_special(content, ", the passing ones in their places at most ");
    expect_bound(content, "clipped to at most", 5, 5.3);
    expect_repeats("layer_norm", "of.c", content);
    json_decref(content);
}
END_TEST

START_TEST(values_all_over_are_told_by_their_bound_and_repeat_by_it)
{
    put_softmax("of.c",
                "greatest(x, cols); int count = 0;"
                " for (int64_t c = 1; c < cols; c += 2) count += x[c] < -100; if (count > 17) sum = 1");
    json_t *content = verify_of("softmax", "rows 1..2\ncols 36..96\ninput normal negative\n",
                                "rows=2 cols=48 input=normal\n");
    ck_assert_str_eq(word(content, "kind"), "many");
    expect_bound(content, "clipped to at least", -100, -106);
    ck_assert_ptr_nonnull(strstr(word(content, "values"), " clip=x:-10"));
    cli_expect(1, " clip=x:-10");
    CLI("check", "softmax", "of.c", word(content, "config"), "--values", word(content, "values"), "--device",
        "host");
    cli_expect(1, "wrong: ");
    CLI("check", "softmax", "of.c", word(content, "config"), "--values", "clip=x:-90:inf", "--device",
        "host");
    cli_expect(0, "pass: ");
    json_decref(content);
}
END_TEST

/* The simplest failure's queries are gathered from its keys, which are never blended: another class is
 * asked. */
START_TEST(where_nothing_can_be_mixed_a_failure_of_another_class_is_asked)
{
    char text[2048];
    snprintf(
        text, sizeof text,
        "#define attention honest\n#include \"%s\"\n#undef attention\n"
        "int attention(const bf16 *q, const bf16 *k, const bf16 *v, const int32_t *a, const int32_t *b, bf16 "
        "*out,"
        " float *lse, int64_t batch, int64_t heads, int64_t kv_heads, int64_t head_dim, int64_t total_q,"
        " int64_t total_kv, float scale, bool causal, void *stream)\n"
        "{ const int r = honest(q, k, v, a, b, out, lse, batch, heads, kv_heads, head_dim, total_q, total_kv,"
        " scale, causal, stream);\n"
        "  for (int64_t i = 0; i < total_q * heads; i++) lse[i] = fminf(lse[i], 20);\n  return r; }\n",
        cli_repository("problems/attention/baseline.c"));
    cli_put("of.c", text);
    json_t *content =
        verify_of("attention",
                  "batch 1\nkv_heads 1..2 tile 4\ngroup 1\nhead_dim 64\nmax_len 1..8 tile 4\n"
                  "causal 0\nkv few\nlengths equal\nscale one\ninput normal onehot rising\n",
                  "batch=1 kv_heads=1 group=1 head_dim=64 max_len=4 causal=0 scale=one input=normal\n");
    cli_expect(1, " input=onehot seed=1"); /* the smallest */
    ck_assert_msg(strstr(word(content, "config"), "input=rising") != NULL, "%s", word(content, "config"));
    json_decref(content);
}
END_TEST

#define CHECK "check", "softmax", "right.c", "rows=2 cols=8 seed=1", "--device", "host", "--values"

START_TEST(values_that_cannot_be_mixed_are_refused_with_what_can)
{
    put_softmax("right.c", "greatest(x, cols)");
    CLI(CHECK, "seed=2 keep=x[1,2..7]");
    cli_expect(0, "pass: ");
    CLI(CHECK, "seed=2 keep=x[1,2..8]");
    cli_expect_error(2, "keep=x[1,2..8]", "expected", "write keep=x[0,4..7]");
    CLI(CHECK, "seed=2 keep=x[1]");
    cli_expect_error(2, "keep=x[1]", "expected", "write keep=x[0,4..7]");
    CLI(CHECK, "seed=2 keep=y[0,0]");
    cli_expect_error(2, "keep=y[0,0]", "can be mixed", "unseen describe softmax");
    CLI(CHECK, "clip=x:-0.5:inf keep=x[1,2..7]");
    cli_expect(0, "pass: ");
    CLI(CHECK, "clip=x:2:1");
    cli_expect_error(2, "clip=x:2:1", "the first not above the second", "write clip=x:-1:inf");
    CLI(CHECK, "clip=x:-1");
    cli_expect_error(2, "clip=x:-1", "clip=x:LOW:HIGH was expected", "write clip=x:-1:inf");
    CLI(CHECK, "clip=y:-1:1");
    cli_expect_error(2, "clip=y:-1:1", "can be mixed", "unseen describe softmax");
    CLI(CHECK, "clip=x:-1:1 clip=x:-2:2");
    cli_expect_error(2, "clip=x:-2:2", "once at the most", "write both bounds in one");
    CLI(CHECK, "input=none");
    cli_expect_error(2, "'input=none'", "was expected", "write them as the report does");
    CLI(CHECK, "seed=2 cols=9");
    cli_expect_error(2, "'cols=9'", "was expected", "write them as the report does");
    CLI(CHECK, "seed=2", "--timing");
    cli_expect_error(2, "--timing and --values", "expected one", "leave out --timing");
}
END_TEST

TCase *cli_values_case(void)
{
    TCase *tests = tcase_create("which values");
    tcase_add_checked_fixture(tests, cli_setup, cli_teardown);
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, a_maximum_without_its_tail_is_told_by_the_value_in_the_tail);
    tcase_add_test(tests, a_value_that_fails_elsewhere_too_is_not_told_by_its_place);
    tcase_add_test(tests, one_nan_is_told_wherever_it_stands);
    tcase_add_test(tests, of_what_fails_with_any_values_nothing_is_said_of_them);
    tcase_add_test(tests, of_what_comes_and_goes_no_values_are_blamed);
    tcase_add_test(tests, tensors_that_are_coupled_are_named_and_left_alone);
    tcase_add_test(tests, a_byte_of_two_weights_is_told_by_both);
    tcase_add_test(tests, a_choice_that_passes_names_the_tensor_and_a_bound_its_values);
    tcase_add_test(tests, several_values_are_told_by_the_side_that_they_lie_on);
    tcase_add_test(tests, values_all_over_are_told_by_their_bound_and_repeat_by_it);
    tcase_add_test(tests, where_nothing_can_be_mixed_a_failure_of_another_class_is_asked);
    tcase_add_test(tests, values_that_cannot_be_mixed_are_refused_with_what_can);
    return tests;
}
