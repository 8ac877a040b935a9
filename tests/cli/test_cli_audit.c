/* unseen audit: the results of null kernels under the published check and under ours. */
#include "cli.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static const json_t *null_named(const json_t *root, const char *name)
{
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(root, "nulls"), i,
                       entry) if (strcmp(json_string_value(json_object_get(entry, "name")), name) ==
                                  0) return entry;
    return NULL;
}

static int count_of(const json_t *root, const char *name, const char *check, const char *key)
{
    const json_t *entry = null_named(root, name);
    ck_assert_msg(entry != NULL, "no null kernel '%s'", name);
    return (int)json_integer_value(json_object_get(json_object_get(entry, check), key));
}

/* Long rows of small values: a published check with an absolute tolerance finds no fault there. */
START_TEST(the_published_check_passes_zeros_where_outputs_are_small_and_ours_passes_nothing)
{
    cli_put("long.space",
            "batch 1..8\nheads 1..64\nkv_heads 1..8\nhead_dim 64\npage_size 16\n"
            "max_len 1..4096\nlengths equal ragged\ntable shuffled\npast finite\ninput normal onehot\n"
            "limit heads % kv_heads == 0\nlimit heads <= 16*kv_heads\n");
    cli_put("long.seen", "batch=1 heads=4 kv_heads=2 head_dim=64 max_len=2000 page_size=16 input=normal\n");
    CLI("audit", "paged_attention", "--device", "host", "--contract", "long.space", "--seen", "long.seen",
        "--unseen", "4", "--seed", "7", "--json", "a.json");
    cli_expect(0, "all zeros                               yes  1 of 1");
    cli_expect(0, "0 pass ours");
    json_error_t error;
    json_t *root = json_load_file("a.json", 0, &error);
    ck_assert_msg(root != NULL, "%s", error.text);
    ck_assert_int_eq(count_of(root, "all zeros", "published", "pass"), 1);
    ck_assert_int_eq(count_of(root, "all zeros", "unseen", "pass"), 0);
    ck_assert_int_eq(count_of(root, "all zeros", "unseen", "configs"), 5);
    ck_assert_int_eq(count_of(root, "all ones", "published", "pass"), 0);
    ck_assert_int_eq(count_of(root, "the previous call's output", "unseen", "pass"), 0);
    ck_assert_ptr_null(null_named(root, "operands rounded to bf16"));
    json_decref(root);
}
END_TEST

/* An audit judges each configuration once for each null kernel. */
START_TEST(without_an_effort_an_audit_takes_the_quick_one)
{
    json_error_t error;
    CLI("audit", "softmax", "--device", "host", "--contract", "tiny.space", "--seen", "tiny.seen", "--seed",
        "3", "--json", "a.json");
    json_t *root = json_load_file("a.json", 0, &error);
    ck_assert_msg(root != NULL, "%s", error.text);
    ck_assert_int_eq(json_integer_value(json_object_get(root, "unseen_configs")), 35);
    json_decref(root);
}
END_TEST

/* Every problem, one small configuration each: all null kernels are tried, and none passes ours. */
static const struct {
    const char *problem, *seen;
    int kinds;
} small[] = {
    {"softmax", "rows=8 cols=200", 14},
    {"gemm_fp8", "m=16 n=40 k=64", 13},
    {"kda", "batch=1 t=80 heads=2 dk=64 dv=64", 13},
    {"topk", "rows=4 n=300 k=20", 14},
    {"moe_up", "tokens=40 hidden_dim=64 inter_dim=40 experts=4", 13},
    {"gemm_w4a16", "m=8 n=40 k=128 group=32", 13},
    {"gemm_bf16", "m=16 n=40 k=64 trans_b=1", 13},
    {"gemm_f32", "m=16 n=40 k=64 trans_b=0", 14},
};

START_TEST(no_null_kernel_passes_ours)
{
    char line[160];
    snprintf(line, sizeof line, "%s input=normal\n", small[_i].seen);
    cli_put("small.seen", line);
    CLI("audit", small[_i].problem, "--device", "host", "--seen", "small.seen", "--unseen", "0", "--seed",
        "3", "--json", "a.json");
    cli_expect(0, "0 pass ours");
    json_t *root = json_load_file("a.json", 0, NULL);
    ck_assert_ptr_nonnull(root);
    ck_assert_uint_eq(json_array_size(json_object_get(root, "nulls")), (size_t)small[_i].kinds);
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(root, "nulls"), i, entry)
    {
        const char *name = json_string_value(json_object_get(entry, "name"));
        ck_assert_msg(count_of(root, name, "unseen", "configs") == 1, "%s was not judged", name);
        ck_assert_msg(count_of(root, name, "unseen", "pass") == 0, "%s passes", name);
    }
    json_decref(root);
}
END_TEST

START_TEST(an_audit_refuses_what_it_does_not_know)
{
    CLI("audit", "softmaxx");
    cli_expect_error(2, "unknown problem 'softmaxx'", "expected one of", "unseen list");
    CLI("audit", "softmax", "kernel.c");
    cli_expect_error(2, "unexpected argument 'kernel.c'", "expected PROBLEM", "leave it out");
    CLI("audit", "softmax", "--device", "host", "--seen", "tiny.seen", "--unseen", "0", "--json",
        "missing/a.json");
    ck_assert_int_eq(cli.status, 3);
    ck_assert(strstr(cli.err, "missing/a.json") != NULL);
}
END_TEST

START_TEST(an_audits_result_never_replaces_what_it_reads)
{
    CLI("audit", "softmax", "--device", "host", "--seen", "tiny.seen", "--unseen", "0", "--json",
        "tiny.seen");
    cli_expect_error(2, "--json tiny.seen is the seen set", "expected a file of its own",
                     "give another path");
}
END_TEST

START_TEST(ctrl_c_keeps_what_an_audit_has_found)
{
    const pid_t pid =
        CLI_START("audit", "softmax", "--device", "host", "--unseen", "300", "--json", "a.json");
    for (int i = 0; i < 2000 && access("a.json", F_OK) != 0; i++)
        usleep(10000);
    usleep(300000);
    kill(pid, SIGINT);
    cli_wait(pid);
    ck_assert_int_eq(cli.status, 130);
    json_t *root = json_load_file("a.json", 0, NULL);
    ck_assert_ptr_nonnull(root);
    ck_assert(json_is_true(json_object_get(root, "partial")));
    ck_assert_ptr_nonnull(null_named(root, "all zeros"));
    json_decref(root);
}
END_TEST

TCase *cli_audit_case(void)
{
    TCase *tcase = tcase_create("audit");
    tcase_add_checked_fixture(tcase, cli_setup, cli_teardown);
    tcase_set_timeout(tcase, 90);
    tcase_add_test(tcase, without_an_effort_an_audit_takes_the_quick_one);
    tcase_add_test(tcase, the_published_check_passes_zeros_where_outputs_are_small_and_ours_passes_nothing);
    tcase_add_loop_test(tcase, no_null_kernel_passes_ours, 0, (int)(sizeof small / sizeof *small));
    tcase_add_test(tcase, an_audit_refuses_what_it_does_not_know);
    tcase_add_test(tcase, an_audits_result_never_replaces_what_it_reads);
    tcase_add_test(tcase, ctrl_c_keeps_what_an_audit_has_found);
    return tcase;
}
