/* The tables of the problems against what was published: signatures, tolerances, the seen shapes, and the
 * work and traffic of each, computed by hand from the published formulas. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "gen/contract/instantiate.h"
#include "gen/contract/space.h"
#include "suites.h"

/* Tensors in the order of the C function, then its int64_t arguments. */
static const struct {
    const char *problem, *signature;
    double atol, rtol;
} tables[] = {
    {"gemm_fp8", "x:e4m3 weight:e4m3 scale:f32 y:bf16* m n k", 0.2, 0.2},
    {"kda", "q:bf16 k:bf16 v:bf16 g:f32 beta:bf16 o:bf16* batch t heads dk dv", 0.05, 0.05},
    {"paged_attention",
     "query:bf16 kv_cache:bf16 block_table:i32 seq_lens:i32 out:bf16* batch heads "
     "kv_heads head_dim page_size pages pages_per_seq",
     0.02, 0.02},
    {"softmax", "x:f32 y:f32* rows cols", 1e-5, 1e-5},
    {"topk", "x:f32 values:f32* indices:i64* rows n k", 1e-4, 1e-4},
    {"moe_up",
     "hidden:bf16 expert_offsets:i32 w_gate:bf16 w_up:bf16 out:bf16* tokens hidden_dim inter_dim "
     "experts",
     0.02, 0.02},
    {"gemm_w4a16", "x:bf16 w_q:u8 scales:bf16 zeros:bf16 y:bf16* m n k group", 0.1, 0.1},
    {"gemm_bf16", "a:bf16 b:bf16 c:bf16* m n k trans_b", 1e-2, 1e-2},
    {"gemm_f32", "a:f32 b:f32 c:f32* m n k trans_b", 1e-5, 1e-4},
};
enum { TABLES = sizeof tables / sizeof *tables };

static const char *short_name(enum dtype dtype)
{
    static const char *const names[] = {
        [DTYPE_F32] = "f32", [DTYPE_BF16] = "bf16", [DTYPE_E4M3] = "e4m3", [DTYPE_I32] = "i32",
        [DTYPE_I64] = "i64", [DTYPE_U8] = "u8",     [DTYPE_F64] = "f64"};
    return names[dtype];
}

START_TEST(signatures_and_tolerances_are_the_published_ones)
{
    const struct problem *p = problem_find(tables[_i].problem);
    char text[256] = "";
    size_t used = 0;
    ck_assert_ptr_nonnull(p);
    for (const struct tensor *t = p->tensors; t->name; t++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s:%s%s ", t->name, short_name(t->dtype),
                                 t->role == TENSOR_OUTPUT ? "*" : "");
    for (const struct argument *e = p->arguments; e->name; e++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", e->name, e[1].name ? " " : "");
    ck_assert_str_eq(text, tables[_i].signature);
    ck_assert(p->published_atol == tables[_i].atol && p->published_rtol == tables[_i].rtol);
}
END_TEST

START_TEST(every_registered_problem_is_in_these_tables)
{
    for (const struct problem *const *p = problem_registry; *p; p++) {
        int found = 0;
        for (int i = 0; i < TABLES; i++)
            found += strcmp((*p)->name, tables[i].problem) == 0;
        ck_assert_msg(found == 1, "%s", (*p)->name);
    }
}
END_TEST

/* Flops 0: none published (topk only compares). */
static const struct work {
    const char *problem, *line;
    double flops, bytes;
} seen[] = {
    /* 2 M N K; M K + N K + 4 N + 2 M N */
    {"gemm_fp8", "m=4096 n=4096 k=4096", 137438953472, 67125248},
    {"gemm_fp8", "m=4096 n=4096 k=4127", 138479140864, 67379200},
    {"gemm_fp8", "m=32 n=8192 k=8192", 4294967296, 67928064},
    {"gemm_fp8", "m=4096 n=14336 k=4096", 481036337152, 192995328},
    /* 4 B T H (K V + 64 K + 64 V); B T H (2 K + 2 K + 2 V + 4 K + 2 + 2 V) */
    {"kda", "batch=2 t=1024 heads=8 dk=128 dv=128", 2147483648, 25198592},
    {"kda", "batch=2 t=2048 heads=8 dk=128 dv=128", 4294967296, 50397184},
    {"kda", "batch=1 t=4096 heads=8 dk=128 dv=128", 4294967296, 50397184},
    {"kda", "batch=1 t=2048 heads=4 dk=128 dv=128", 1073741824, 12599296},
    /* 4 B H L D; 4 B L Hkv D + 4 B H D */
    {"paged_attention",
     "batch=8 heads=32 kv_heads=8 head_dim=128 "
     "max_len=1024 page_size=16",
     134217728, 33685504},
    {"paged_attention",
     "batch=32 heads=32 kv_heads=8 head_dim=128 "
     "max_len=2048 page_size=16",
     1073741824, 268959744},
    {"paged_attention",
     "batch=4 heads=64 kv_heads=8 head_dim=128 "
     "max_len=4096 page_size=16",
     536870912, 67239936},
    {"paged_attention",
     "batch=16 heads=32 kv_heads=8 head_dim=128 "
     "max_len=1535 page_size=16",
     402391040, 100859904},
    {"paged_attention",
     "batch=8 heads=16 kv_heads=4 head_dim=64 "
     "max_len=2000 page_size=16",
     65536000, 16416768},
    /* 5 R C; 8 R C */
    {"softmax", "rows=32 cols=4096", 655360, 1048576},
    {"softmax", "rows=16 cols=32768", 2621440, 4194304},
    {"softmax", "rows=8 cols=131072", 5242880, 8388608},
    {"softmax", "rows=4 cols=262144", 5242880, 8388608},
    {"softmax", "rows=8 cols=131072 input=extreme", 5242880, 8388608},
    /* 4 B N + 12 B k */
    {"topk", "rows=1 n=131072 k=64", 0, 525056},
    {"topk", "rows=64 n=8192 k=8", 0, 2103296},
    {"topk", "rows=32 n=16384 k=32", 0, 2109440},
    {"topk", "rows=16 n=12000 k=16", 0, 771072},
    {"topk", "rows=128 n=4096 k=1", 0, 2098688},
    /* 4 Tp H I; 2 Tp H + 4 E H I + 2 Tp I, Tp the tokens times the experts of each */
    {"moe_up", "tokens=262144 hidden_dim=4096 inter_dim=1536 experts=128", 6597069766656, 6174015488},
    {"moe_up", "tokens=16384 hidden_dim=2048 inter_dim=1024 experts=64", 137438953472, 637534208},
    {"moe_up", "tokens=131072 hidden_dim=2048 inter_dim=4096 experts=64", 4398046511104, 3758096384},
    /* 2 M N K; 2 M K + N K / 2 + 4 ceil(K / 128) N + 2 M N */
    {"gemm_w4a16", "m=1 n=12288 k=4096 group=128", 100663296, 26771456},
    {"gemm_w4a16", "m=32 n=12288 k=4096 group=128", 3221225472, 27787264},
    {"gemm_w4a16", "m=256 n=12288 k=4096 group=128", 25769803776, 35127296},
    {"gemm_w4a16", "m=1 n=4096 k=4096 group=128", 33554432, 8929280},
    {"gemm_w4a16", "m=16 n=14336 k=4096 group=128", 1879048192, 31784960},
    /* 2 M N K; every tensor once */
    {"gemm_bf16", "m=4096 n=4096 k=4096 trans_b=0", 137438953472, 100663296},
    {"gemm_bf16", "m=4096 n=4096 k=4096 trans_b=1", 137438953472, 100663296},
    {"gemm_bf16", "m=16 n=8192 k=8192 trans_b=1", 2147483648, 134742016},
    {"gemm_bf16", "m=2048 n=5632 k=2048 trans_b=0", 47244640256, 54525952},
    {"gemm_bf16", "m=512 n=8192 k=4096 trans_b=1", 34359738368, 79691776},
    {"gemm_f32", "m=256 n=256 k=256 trans_b=0", 33554432, 786432},
    {"gemm_f32", "m=512 n=512 k=256 trans_b=0", 134217728, 2097152},
    {"gemm_f32", "m=1024 n=1024 k=512 trans_b=0", 1073741824, 8388608},
    {"gemm_f32", "m=2048 n=1024 k=1024 trans_b=0", 4294967296, 20971520},
    {"gemm_f32", "m=1024 n=2048 k=1024 trans_b=0", 4294967296, 20971520},
};
enum { SEEN = sizeof seen / sizeof *seen };

/* What --device host takes where the published set is too much for it. */
static const struct work host[] = {
    {"gemm_fp8", "m=256 n=256 k=256", 0, 0},
    {"gemm_fp8", "m=256 n=256 k=287", 0, 0},
    {"gemm_fp8", "m=32 n=512 k=512", 0, 0},
    {"gemm_fp8", "m=256 n=896 k=256", 0, 0},
    {"gemm_bf16", "m=256 n=256 k=256 trans_b=0", 0, 0},
    {"gemm_bf16", "m=256 n=256 k=256 trans_b=1", 0, 0},
    {"gemm_bf16", "m=16 n=512 k=512 trans_b=1", 0, 0},
    {"gemm_bf16", "m=128 n=352 k=128 trans_b=0", 0, 0},
    {"gemm_bf16", "m=32 n=512 k=256 trans_b=1", 0, 0},
    {"moe_up", "tokens=4096 hidden_dim=256 inter_dim=96 experts=128", 0, 0},
    {"moe_up", "tokens=1024 hidden_dim=128 inter_dim=64 experts=64", 0, 0},
    {"moe_up", "tokens=8192 hidden_dim=128 inter_dim=256 experts=64", 0, 0},
    {"gemm_w4a16", "m=1 n=1536 k=512 group=128", 0, 0},
    {"gemm_w4a16", "m=32 n=1536 k=512 group=128", 0, 0},
    {"gemm_w4a16", "m=256 n=1536 k=512 group=128", 0, 0},
    {"gemm_w4a16", "m=1 n=512 k=512 group=128", 0, 0},
    {"gemm_w4a16", "m=16 n=1792 k=512 group=128", 0, 0},
};
enum { HOST = sizeof host / sizeof *host };

/* Off the published points, where a formula could be right by chance: odd sizes and a ragged last group. */
static const struct work others[] = {
    {"kda", "batch=3 t=5 heads=2 dk=64 dv=192", 3440640, 38460},
    {"topk", "rows=3 n=5 k=2", 0, 132},
    {"moe_up", "tokens=3 hidden_dim=5 inter_dim=7 experts=11 routing=one", 420, 1612},
    {"gemm_w4a16", "m=3 n=5 k=290 group=32", 8700, 2695},
    {"gemm_bf16", "m=3 n=5 k=7 trans_b=0", 210, 142},
    {"gemm_f32", "m=3 n=5 k=7 trans_b=1", 210, 284},
    {"paged_attention",
     "batch=1 heads=6 kv_heads=2 head_dim=80 "
     "max_len=7 page_size=16 lengths=ragged",
     13440, 6400},
};
enum { OTHERS = sizeof others / sizeof *others };

static void expect_work(const struct work *w)
{
    struct config config;
    struct instance instance;
    struct space_error error;
    ck_assert_msg(config_parse(&config, problem_find(w->problem), w->line, "test", &error) == 0, "%s",
                  error.text);
    for (int content = 0; content < 2; content++) {
        ck_assert_int_eq(config_instantiate(&config, content, &instance), 0);
        ck_assert_msg(w->flops == 0 || instance.flops == w->flops, "%s %s: %.0f flops, not %.0f", w->problem,
                      w->line, instance.flops, w->flops);
        ck_assert_msg(instance.bytes == w->bytes, "%s %s: %.0f bytes, not %.0f", w->problem, w->line,
                      instance.bytes, w->bytes);
        instance_clear(&instance);
    }
}

START_TEST(work_and_traffic_follow_the_published_formulas)
{
    for (int i = 0; i < SEEN; i++)
        expect_work(&seen[i]);
    for (int i = 0; i < OTHERS; i++)
        expect_work(&others[i]);
}
END_TEST

/* shapes/NAME SUFFIX holds the table's shapes of a problem in their order, with the published choices. */
static void expect_file(const char *name, const char *suffix, const struct work *table, int count)
{
    char path[64];
    struct space space;
    struct config_list list = {0};
    struct space_error error = {""};
    int at = 0;
    snprintf(path, sizeof path, "shapes/%s.space", name);
    ck_assert_msg(space_read(&space, problem_find(name), path, &error) == 0, "%s", error.text);
    snprintf(path, sizeof path, "shapes/%s%s", name, suffix);
    ck_assert_msg(config_list_read(&list, &space, path, true, &error) == 0, "%s", error.text);
    for (int i = 0; i < count; i++) {
        struct config want;
        if (strcmp(table[i].problem, name) != 0)
            continue;
        ck_assert_int_eq(config_parse(&want, space.problem, table[i].line, "test", &error), 0);
        ck_assert_msg(at < list.count && config_same_point(&list.item[at], &want), "%s, shape %d", path, at);
        at++;
    }
    ck_assert_int_eq(at, list.count);
    config_list_clear(&list);
    space_clear(&space);
}

START_TEST(the_seen_sets_are_the_published_shapes)
{
    expect_file(tables[_i].problem, ".seen", seen, SEEN);
    expect_file(tables[_i].problem, ".host.seen", host, HOST);
}
END_TEST

Suite *problems_suite(void)
{
    Suite *suite = suite_create("problems");
    TCase *published = tcase_create("published");
    tcase_add_loop_test(published, signatures_and_tolerances_are_the_published_ones, 0, TABLES);
    tcase_add_test(published, every_registered_problem_is_in_these_tables);
    tcase_add_test(published, work_and_traffic_follow_the_published_formulas);
    tcase_add_loop_test(published, the_seen_sets_are_the_published_shapes, 0, TABLES);
    tcase_set_timeout(published, 60);
    suite_add_tcase(suite, published);
    return suite;
}
