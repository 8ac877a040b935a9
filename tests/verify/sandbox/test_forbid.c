/* --forbid: the libraries that names stand for, reading untrusted objects, and observing a process. */
#include "child_fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli.h"
#include "suites.h"
#include "verify/sandbox/forbid.h"
#include "verify/sandbox/forbid_object.h"
#include "verify/sandbox/forbid_policy.h"

/* --- words --- */

static const struct {
    const char *words;
    enum policy_kind kind;
    const char *name;
    const char *forbidden_by; /* NULL: permitted */
} names[] = {
    {"cublas", POLICY_LIBRARY, "libcublas.so.12", "cublas"},
    {"cublas", POLICY_LIBRARY, "/usr/local/cuda/lib64/libcublasLt.so.13.0.1", "cublas"},
    {"cublas", POLICY_LIBRARY, "libcublasty.so", NULL},
    {"cublas", POLICY_LIBRARY, "/home/libcublas.so.d/libmine.so", NULL},
    {"cublas", POLICY_SYMBOL, "cublasSgemm_v2", "cublas"},
    {"cublas", POLICY_SYMBOL, "cublas_like_gemm", NULL},
    {"cublas", POLICY_SYMBOL, "my_cublasSgemm", NULL},
    {"mkl,openblas", POLICY_LIBRARY, "libopenblas64.so.0", "openblas"},
    {"mkl,openblas", POLICY_SYMBOL, "mkl_sparse_d_mv", "mkl"},
    {"openblas", POLICY_SYMBOL, "cblas_sgemm", NULL},
    {"blas", POLICY_SYMBOL, "cblas_sgemm", "blas"},
    {"blas", POLICY_SYMBOL, "sgemm_", "blas"},
    {"blas", POLICY_SYMBOL, "my_sgemm_", NULL},
    {"cutlass", POLICY_KERNEL, "_ZN7cutlass13device_kernelINS_4gemm6kernelEEEvv", "cutlass"},
    {"cutlass", POLICY_KERNEL, "_Z6kernelIN7cutlass6half_tEEvPT_", "cutlass"},
    {"cutlass", POLICY_KERNEL, "_Z7cutlassPf", NULL},
    {"cub,thrust", POLICY_KERNEL, "_ZN3cub17CUB_200500_800_NS4ScanEv", "cub"},
    {"cub,thrust", POLICY_KERNEL, "_Z13cubic_kernelPf", NULL},
    {"lib:gmp", POLICY_LIBRARY, "/usr/lib/x86_64-linux-gnu/libgmp.so.10.4.1", "lib:gmp"},
    {"lib:gmp", POLICY_LIBRARY, "libgmp-10.so", "lib:gmp"},
    {"lib:gmp", POLICY_LIBRARY, "libgmpxx.so.4", NULL},
    {"lib:gmp", POLICY_LIBRARY, "gmp.so", NULL},
    {"lib:libgmp.so.10", POLICY_LIBRARY, "libgmp.so.10", "lib:libgmp.so.10"},
    {"symbol:__gmp", POLICY_SYMBOL, "__gmpz_add", "symbol:__gmp"},
    {"symbol:__gmp", POLICY_SYMBOL, "my__gmpz_add", NULL},
    {"kernel:flash", POLICY_KERNEL, "_Z11flash_fwdPf", "kernel:flash"},
    {"kernel:flash", POLICY_SYMBOL, "flash_fwd", NULL},
};

START_TEST(a_word_stands_for_the_names_of_its_library_and_no_others)
{
    struct policy policy = {0};
    char error[512];
    ck_assert_msg(policy_add(&policy, names[_i].words, error, sizeof error) == 0, "%s", error);
    const char *word = policy_forbids(&policy, names[_i].kind, names[_i].name);
    ck_assert_msg(!word == !names[_i].forbidden_by && (!word || strcmp(word, names[_i].forbidden_by) == 0),
                  "%s: forbidden by %s", names[_i].name, word ? word : "nothing");
}
END_TEST

static const struct {
    const char *words, *kernel, *object;
    const char *forbidden_by;
} launched[] = {
    {"cublas", "nvjet_sm90_tst_64x8", "/usr/local/cuda/lib64/libcublasLt.so.13", "cublas"},
    {"cublas", "_Z4minePf", "/tmp/unseen-1/kernel.so", NULL},
    {"cutlass", "_ZN7cutlass7Kernel2IfEEvPT_", "/usr/local/cuda/lib64/libcublas.so.13", NULL},
    {"cutlass", "_ZN7cutlass7Kernel2IfEEvPT_", "/tmp/unseen-1/kernel.so", "cutlass"},
    {"cutlass", "_ZN7cutlass7Kernel2IfEEvPT_", "", "cutlass"},
    {"cutlass,kernel:Kernel2", "_ZN7cutlass7Kernel2IfEEvPT_", "/usr/local/cuda/lib64/libcublas.so.13",
     "kernel:Kernel2"},
    {"torch", "_ZN2at6native13reduce_kernelEv", "/venv/torch/lib/libtorch_cuda.so", "torch"},
    {"cutlass", "_ZN7cutlass5fmhaEv", "/venv/torch/lib/libtorch_cuda.so", NULL},
    {"lib:mine", "_Z4minePf", "/tmp/libmine.so", "lib:mine"},
};

START_TEST(who_launches_a_kernel_decides_what_its_name_says)
{
    struct policy policy = {0};
    char error[512];
    ck_assert_msg(policy_add(&policy, launched[_i].words, error, sizeof error) == 0, "%s", error);
    const char *word = policy_forbids_launch(&policy, launched[_i].kernel, launched[_i].object);
    ck_assert_msg(!word == !launched[_i].forbidden_by ||
                      (word && strcmp(word, launched[_i].forbidden_by) == 0),
                  "%s: forbidden by %s", launched[_i].kernel, word ? word : "nothing");
}
END_TEST

START_TEST(what_is_launched_is_counted_once_and_named)
{
    char text[512];
    ck_assert_int_eq(forbid_uses().kernels, -1);
    ck_assert_msg(forbid_add("cublas", text, sizeof text) == 0, "%s", text);
    forbid_launches(NULL);
    forbid_launched("");
    forbid_launched("a\t/tmp/k.so\nb\t\nrest of a line");
    forbid_launched("b\t/tmp/k.so\nnv\033jet\t/usr/lib/libcublasLt.so.13");
    struct forbid_uses uses = forbid_uses();
    ck_assert_int_eq(uses.kernels, 3);
    ck_assert_int_eq(uses.count, 1);
    ck_assert_str_eq(uses.text, "cublas: it launched nv?jet, from /usr/lib/libcublasLt.so.13");
    ck_assert_str_eq(uses.unasked, "");
    forbid_launches("no\nlibcupti.so");
    ck_assert_str_eq(forbid_uses().unasked, "no?libcupti.so");
}
END_TEST

START_TEST(an_unknown_word_adds_nothing_and_names_the_known)
{
    static const char *const wrong[] = {
        "cublas,foo",
        "",
        "cublas,",
        ",",
        "lib:",
        "Cublas",
        "lib:0123456789012345678901234567890123456789012345678901234567890123"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct policy policy = {0};
        char error[512] = "";
        ck_assert_int_eq(policy_add(&policy, wrong[i], error, sizeof error), -1);
        ck_assert_int_eq(policy.words, 0);
        ck_assert_ptr_nonnull(strstr(error, "expected blas, cub, cublas"));
        ck_assert_ptr_nonnull(strstr(error, "lib:NAME"));
        ck_assert_ptr_nonnull(strstr(error, "--->"));
    }
}
END_TEST

/* --- objects --- */

static struct build held;

/* Names of every kind: a reference to an undefined one, a static function in the symbol table only, and a
 * string as a kernel's registered name. */
static const char source[] =
    "#include <dlfcn.h>\n#include <fcntl.h>\n#include <link.h>\n#include <stdint.h>\n#include "
    "<string.h>\n#include <sys/prctl.h>\n#include <unistd.h>\n"
    "#define KERNEL(name) int name(const float *x, float *y, int64_t n, void *stream)\n"
    "extern int cublasCreate_v2(void **) __attribute__((weak));\n"
    "__attribute__((noinline)) static int openblas_hidden(const float *x) { return x[0] > 1e30f; }\n"
    "static const char *volatile registered = \"_ZN7cutlass6KernelIfEEvPT_\";\n"
    "KERNEL(holds) { (void)y, (void)n, (void)stream; return cublasCreate_v2 ? 1 : openblas_hidden(x) + "
    "!registered; }\n"
    "KERNEL(plain) { (void)x, (void)y, (void)n, (void)stream; return 0; }\n"
    "static void place(int to) { struct link_map *m; void *h = dlopen(\"libgmp.so.10\", RTLD_NOW);\n"
    "    if (h && !dlinfo(h, RTLD_DI_LINKMAP, &m)) _exit(write(to, m->l_name, strlen(m->l_name)) < 0); "
    "_exit(1); }\n"
    "KERNEL(renames) { const char *mine = \"/tmp/unseen-test-renamed\"; char b[4096] = \"\"; long got; int "
    "p[2];\n"
    "    (void)x, (void)y, (void)n, (void)stream; if (pipe(p)) return 1; if (fork() == 0) place(p[1]);\n"
    "    if (read(p[0], b, 256) <= 0) return 2;\n"
    "    int from = open(b, O_RDONLY), to = open(mine, O_CREAT | O_WRONLY | O_TRUNC, 0700);\n"
    "    while ((got = read(from, b, sizeof b)) > 0) if (write(to, b, got) != got) return 3;\n"
    "    close(from); close(to); close(p[0]); close(p[1]); return !dlopen(mine, RTLD_NOW); }\n"
    "KERNEL(vanishes) { (void)x, (void)y, (void)n, (void)stream; return prctl(PR_SET_DUMPABLE, 0) == 0; }\n"
    "KERNEL(opens) { (void)x, (void)y, (void)n, (void)stream; return !dlopen(\"libgmp.so.10\", RTLD_NOW); }\n"
    "KERNEL(closes) { void *h = dlopen(\"libgmp.so.10\", RTLD_NOW); (void)x, (void)y, (void)n, "
    "(void)stream;\n"
    "    return h ? dlclose(h) : 1; }\n"
    "KERNEL(hides) { void *c = dlopen(\"libc.so.6\", RTLD_NOW), *h = dlmopen(LM_ID_NEWLM, "
    "\"libgmp.so.10\", RTLD_NOW);\n"
    "    int (*close)(void *); void *found = dlsym(c, \"dlclose\"); (void)x, (void)y, (void)n, "
    "(void)stream;\n"
    "    memcpy(&close, &found, sizeof close); return h ? close(h) : 1; }\n";

static void compile(void)
{
    char path[128], all[sizeof source + 32];
    snprintf(all, sizeof all, "#define _GNU_SOURCE\n%s", source);
    fixture_compile(&held, "held.c", all);
    snprintf(path, sizeof path, "%s/held.c", it.folder);
    unlink(path);
}

static void forget(void)
{
    build_clear(&held);
}

/* The names found, and their kinds. */
struct seen {
    int total;
    bool needs_libc, refers, defines, has, mangled;
};

static void see(void *data, enum object_name kind, const char *name)
{
    struct seen *seen = data;
    seen->total++;
    seen->needs_libc |= kind == OBJECT_NEEDS && strcmp(name, "libc.so.6") == 0;
    seen->refers |= kind == OBJECT_REFERS && strcmp(name, "cublasCreate_v2") == 0;
    seen->defines |= kind == OBJECT_DEFINES && strcmp(name, "plain") == 0;
    seen->has |= kind == OBJECT_HAS && strncmp(name, "openblas_hidden", 15) == 0;
    seen->mangled |= kind == OBJECT_MANGLED && strcmp(name, "_ZN7cutlass6KernelIfEEvPT_") == 0;
}

START_TEST(names_of_every_kind_are_read)
{
    struct seen seen = {0};
    const int fd = open(held.object, O_RDONLY | O_CLOEXEC);
    ck_assert_int_eq(object_names(fd, true, see, &seen), 0);
    ck_assert(seen.needs_libc);
    ck_assert(seen.refers);
    ck_assert(seen.defines);
    ck_assert(seen.has);
    ck_assert(seen.mangled);
    seen = (struct seen){0};
    ck_assert_int_eq(object_names(fd, false, see, &seen), 0);
    ck_assert(seen.has && !seen.mangled);
    close(fd);
}
END_TEST

/* Cut off anywhere, and with bytes changed anywhere, most of them in the headers and tables: names may be
 * missing. */
START_TEST(a_malformed_object_is_passed_over)
{
    enum { CUTS = 150, CHANGES = 600 };
    char bytes[65536];
    uint64_t random = 91;
    const int from = open(held.object, O_RDONLY | O_CLOEXEC), to = memfd_create("malformed", MFD_CLOEXEC);
    const ssize_t size = read(from, bytes, sizeof bytes);
    struct seen seen = {0};
    ck_assert(size > 4096);
    for (int i = 0; i < CUTS + CHANGES; i++) {
        char copy[sizeof bytes];
        memcpy(copy, bytes, (size_t)size);
        for (int k = 0; i >= CUTS && k < 1 + i % 8; k++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            copy[(random >> 33) % (uint64_t)(i % 3 ? 1024 : size)] = (char)(random >> 20);
        }
        const ssize_t length = i < CUTS ? size * i / CUTS : size;
        ck_assert_int_eq(ftruncate(to, 0), 0);
        ck_assert_int_eq(pwrite(to, copy, (size_t)length, 0), length);
        object_names(to, true, see, &seen);
    }
    ck_assert_int_gt(seen.total, CHANGES);
    close(from);
    close(to);
}
END_TEST

START_TEST(what_is_no_object_has_no_names)
{
    struct seen seen = {0};
    const int fd = memfd_create("text", MFD_CLOEXEC);
    ck_assert_int_eq(object_names(fd, true, see, &seen), -1);
    ck_assert_int_eq(dprintf(fd, "%0100d", 0), 100);
    ck_assert_int_eq(object_names(fd, true, see, &seen), -1);
    ck_assert_int_eq(seen.total, 0);
    close(fd);
}
END_TEST

/* --- processes --- */

static void forbid(const char *list)
{
    ck_assert_msg(forbid_add(list, it.text, sizeof it.text) == 0, "%s", it.text);
    ck_assert_int_eq(forbid_object(held.object, it.text, sizeof it.text), 0);
}

static void run_twice(const char *symbol)
{
    int returned = -1;
    ck_assert_msg(fixture_start_object(held.object, symbol, NULL) == CHILD_OK, "%s", it.text);
    child_map(it.child, 0, 0, &it.x, it.text, sizeof it.text);
    child_map(it.child, 0, 1, &it.y, it.text, sizeof it.text);
    for (int i = 0; i < 2; i++) {
        ck_assert_msg(fixture_call(PLACE_LOW, 20, &returned) == CHILD_OK, "%s", it.text);
        ck_assert_int_eq(returned, 0);
    }
    child_stop(it.child);
    it.child = NULL;
}

START_TEST(an_object_is_held_against_every_kind_of_name)
{
    forbid("cublas,openblas,cutlass,thrust");
    const struct forbid_uses uses = forbid_uses();
    ck_assert_int_eq(uses.count, 3);
    ck_assert_ptr_nonnull(strstr(uses.text, "cublas: its object refers to cublasCreate_v2"));
    ck_assert_ptr_nonnull(strstr(uses.text, "openblas: its object holds openblas_hidden"));
    ck_assert_ptr_nonnull(strstr(uses.text, "cutlass: its object holds _ZN7cutlass6KernelIfEEvPT_"));
    ck_assert_str_eq(forbid_words(), "cublas, openblas, cutlass, thrust");
}
END_TEST

/* Opened and left open; closed within the call; in a name space of its own and closed past every wrapper.
 * With the sandbox, and without. */
START_TEST(a_library_that_is_loaded_is_seen_also_when_it_is_gone)
{
    static const char *const symbol[] = {"opens", "closes", "hides"};
    setenv("UNSEEN_NO_SANDBOX", _i % 2 ? "1" : "0", 1);
    forbid("mkl,lib:gmp");
    run_twice(symbol[_i / 2]);
    const struct forbid_uses uses = forbid_uses();
    ck_assert_int_eq(uses.count, 1);
    ck_assert_ptr_nonnull(strstr(uses.text, "lib:gmp: it loaded /"));
    ck_assert(!uses.blind);
}
END_TEST

/* A copy of it is known by its own name. Another process finds out where the original lies. */
START_TEST(a_library_under_another_name_is_told_by_what_it_calls_itself)
{
    setenv("UNSEEN_NO_SANDBOX", _i ? "1" : "0", 1);
    forbid("lib:gmp");
    run_twice("renames");
    unlink("/tmp/unseen-test-renamed");
    const struct forbid_uses uses = forbid_uses();
    ck_assert_int_eq(uses.count, 1);
    ck_assert_ptr_nonnull(strstr(uses.text, "/tmp/unseen-test-renamed, which calls itself libgmp.so."));
}
END_TEST

/* The mappings of such a process could not be read without a right. */
START_TEST(a_process_cannot_make_itself_unreadable)
{
    forbid("lib:gmp");
    run_twice("vanishes");
    ck_assert(!forbid_uses().blind);
}
END_TEST

/* The runner's own libraries do not count, nor does use by another object, such as a baseline. */
START_TEST(who_uses_nothing_is_not_accused)
{
    setenv("UNSEEN_NO_SANDBOX", _i % 2 ? "1" : "0", 1);
    forbid("lib:gmp,lib:c,lib:ld-linux-x86-64.so.2,lib:ld-linux-aarch64.so.1,lib:cuda");
    const int needed = forbid_uses().count; /* lib:c, by the object's own list */
    run_twice("plain");
    ck_assert_int_eq(forbid_uses().count, needed);
    ck_assert(!forbid_uses().blind);
    const char *object = held.object;
    char other[512];
    snprintf(other, sizeof other, "%s/other.so", it.folder);
    ck_assert_int_eq(link(object, other), 0);
    ck_assert_int_eq(fixture_start_object(other, "opens", NULL), CHILD_OK);
    ck_assert(!forbid_watches(other));
    int returned = -1;
    ck_assert_int_eq(fixture_call(PLACE_LOW, 20, &returned) == CHILD_OK && returned != 0, 0);
    unlink(other);
    ck_assert_int_eq(forbid_uses().count, needed);
}
END_TEST

/* --- the tool --- */

START_TEST(verify_says_forbidden_with_status_1_and_shows_what_was_used)
{
    cli_put_kernel("opens.c", "extern void *dlopen(const char *, int); dlopen(\"libgmp.so.10\", 2);", "0");
    CLI("verify", "softmax", "opens.c", TINY, "--unseen", "1", "--forbid", "cublas", "--forbid", "lib:gmp",
        "--json", "r.json");
    cli_expect(1, "forbidden: ");
    cli_expect(1, "lib:gmp: it loaded /");
    json_t *result = cli_json("r.json");
    ck_assert_str_eq(json_string_value(json_object_get(result, "verdict")), "forbidden");
    ck_assert_str_eq(json_string_value(json_object_get(result, "forbid")), "cublas, lib:gmp");
    ck_assert_int_eq(cli_count(result, "seen", "pass"), 2);
    json_decref(result);
}
END_TEST

START_TEST(verify_of_a_kernel_without_it_is_general)
{
    CLI("verify", "softmax", cli_repository("problems/softmax/baseline.c"), TINY, "--unseen", "1", "--forbid",
        "cublas,cutlass,blas,lib:gmp");
    cli_expect(0, "general: ");
    cli_expect(0, "no use of it");
}
END_TEST

START_TEST(an_unknown_word_is_a_usage_error)
{
    CLI("verify", "softmax", "x.c", "--forbid", "cublas,foo");
    cli_expect_error(2, "--forbid names 'foo'", "expected blas, cub, ", "for example --forbid");
}
END_TEST

Suite *forbid_suite(void)
{
    Suite *suite = suite_create("forbid");
    TCase *words = tcase_create("words"), *processes = tcase_create("processes"),
          *tool = tcase_create("tool");
    tcase_add_loop_test(words, a_word_stands_for_the_names_of_its_library_and_no_others, 0,
                        sizeof names / sizeof *names);
    tcase_add_loop_test(words, who_launches_a_kernel_decides_what_its_name_says, 0,
                        sizeof launched / sizeof *launched);
    tcase_add_test(words, what_is_launched_is_counted_once_and_named);
    tcase_add_test(words, an_unknown_word_adds_nothing_and_names_the_known);
    fixture_add(processes);
    tcase_add_unchecked_fixture(processes, compile, forget);
    tcase_add_test(processes, names_of_every_kind_are_read);
    tcase_add_test(processes, a_malformed_object_is_passed_over);
    tcase_add_test(processes, what_is_no_object_has_no_names);
    tcase_add_test(processes, an_object_is_held_against_every_kind_of_name);
    tcase_add_loop_test(processes, a_library_that_is_loaded_is_seen_also_when_it_is_gone, 0, 6);
    tcase_add_loop_test(processes, a_library_under_another_name_is_told_by_what_it_calls_itself, 0, 2);
    tcase_add_test(processes, a_process_cannot_make_itself_unreadable);
    tcase_add_loop_test(processes, who_uses_nothing_is_not_accused, 0, 2);
    tcase_add_checked_fixture(tool, cli_setup, cli_teardown);
    tcase_set_timeout(tool, 60);
    tcase_add_test(tool, verify_says_forbidden_with_status_1_and_shows_what_was_used);
    tcase_add_test(tool, verify_of_a_kernel_without_it_is_general);
    tcase_add_test(tool, an_unknown_word_is_a_usage_error);
    suite_add_tcase(suite, words);
    suite_add_tcase(suite, processes);
    suite_add_tcase(suite, tool);
    return suite;
}
