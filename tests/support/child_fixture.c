#include "child_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct child_fixture it;

static const char candidates[] =
    "#define _GNU_SOURCE\n"
    "#include <errno.h>\n#include <sched.h>\n#include <setjmp.h>\n#include <sys/ptrace.h>\n#include "
    "<sys/syscall.h>\n"
    "#include <fcntl.h>\n#include <sys/mman.h>\n#include <pthread.h>\n#include <signal.h>\n#include "
    "<stdint.h>\n"
    "#include <stdio.h>\n#include <stdlib.h>\n#include <sys/socket.h>\n#include <time.h>\n#include "
    "<unistd.h>\n"
    "#define KERNEL(name) int name(const float *x, float *y, int64_t n, void *stream)\n"
    "KERNEL(doubles) { for (int64_t i = 0; i < n; i++) y[i] = 2 * x[i]; return stream != NULL; }\n"
    "KERNEL(refuses) { return 7; }\n"
    "KERNEL(writes_null) { *(volatile int *)8 = 1; return 0; }\n"
    "KERNEL(writes_past) { ((volatile float *)y)[n] = 1; return 0; }\n"
    "KERNEL(reads_before) { return ((volatile const float *)x)[-1] > 1; }\n"
    "KERNEL(strides_wrong) { return ((volatile const float *)x)[n * 1024] > 1; }\n"
    "KERNEL(threads_past) {\n#pragma omp parallel num_threads(2)\n"
    "    for (int64_t i = 0; i <= n; i++) ((volatile float *)y)[i] = 1;\n    return 0; }\n"
    "KERNEL(aborts) { abort(); }\n"
    "KERNEL(exits) { exit(0); }\n"
    "KERNEL(recurses) { volatile char a[1 << 16]; a[0] = 1; return recurses(x, y, n, stream) + a[0]; }\n"
    "KERNEL(hangs) { for (volatile int *c = (volatile int *)y;; ++*c) usleep(100); }\n"
    "KERNEL(sleeps) { for (;;) pause(); }\n"
    "KERNEL(spins) { for (volatile int *c = (volatile int *)y;;) *c = 1; }\n"
    "static double ran(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);\n"
    "    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec; }\n"
    "KERNEL(burns) { for (double until = ran() + 0.4; ran() < until;) ; return 0; }\n"
    "KERNEL(prints) { for (;;) puts(\"PASS PASS PASS\"); }\n"
    "KERNEL(says_pass) { puts(\"PASS\"); return 0; }\n"
    "KERNEL(writes_channel) { return write(3, \"PASS\\n\", 5) < 0; }\n"
    "KERNEL(empty_packet) { return send(3, \"\", 0, 0) < 0; }\n"
    "KERNEL(forges) { static uint32_t r[16384]; int size = (int)n; r[0] = 0x756e736e; r[1] = 2;\n"
    "    return write(3, r, size) < 0; }\n"
    "KERNEL(closes) { close(3); return 5; }\n"
    "KERNEL(closes_all) { close_range(3, ~0u, 0); return 5; }\n"
    "KERNEL(blocks_signals) { sigset_t all; sigfillset(&all); sigprocmask(SIG_SETMASK, &all, NULL);\n"
    "    signal(SIGSEGV, SIG_IGN); signal(SIGBUS, SIG_IGN); return 0; }\n"
    "KERNEL(hides_then_past) { static int calls; if (calls++) ((volatile float *)y)[n] = 1;\n"
    "    return blocks_signals(x, y, n, stream); }\n"
    "KERNEL(kills_parent) { kill(getppid(), SIGKILL); return 0; }\n"
    "KERNEL(leaves_a_child) { if (fork() == 0) for (;;) pause(); _exit(3); }\n"
    "KERNEL(writes_files) { return (open(\"/tmp/unseen-test-leak\", O_CREAT | O_WRONLY, 0600) >= 0)\n"
    "    + 2 * (open(\"/unseen-test-leak\", O_CREAT | O_WRONLY, 0600) >= 0); }\n"
    "KERNEL(reads_environment) { return getenv(\"UNSEEN_SECRET\") ? 1 : getenv(\"OMP_NUM_THREADS\") ? 0 : 2; "
    "}\n"
    "KERNEL(fills_disk) { static char b[1 << 20]; int f = open(\"/tmp/f\", O_CREAT | O_WRONLY, 0600);\n"
    "    for (;;) if (write(f, b, sizeof b) < 0) return 9; }\n"
    "static void *later(void *p) { usleep(100000); abort(); return p; }\n"
    "KERNEL(dies_later) { pthread_t t; return pthread_create(&t, NULL, later, NULL); }\n"
    "int seventeen(int64_t a, int64_t b, int64_t c, int64_t d, int64_t e, int64_t f, int64_t g, int64_t h,\n"
    "    int64_t i, int64_t j, int64_t k, int64_t l, int64_t m, int64_t n, int64_t o, int64_t p, void *s)\n"
    "{ return a && b && c && d && e && f && g && h && !s\n"
    "    ? i + 10 * j + 100 * k + 1000 * l + 10000 * m + 100000 * n + 1000000 * o + 10000000 * p : -1; }\n";

/* Candidates that take more of the machine than their share; n is megabytes, processes or threads. */
static const char greedy[] =
    "static int fill(volatile char *p, int64_t mb) { for (int64_t i = 0; p && i < mb << 20; i += 4096) p[i] "
    "= 1; "
    "return "
    "!p; }\n"
    "KERNEL(eats) { return fill(malloc(n << 20), n); }\n"
    "KERNEL(eats_shared) { return fill(mmap(0, n << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, "
    "-1,\n"
    "    0), n); }\n"
    "KERNEL(eats_in_children) { for (int i = 0; i < 8; i++) if (fork() == 0) { setsid(); if (fork() != 0) "
    "_exit(0);\n"
    "    fill(malloc(n << 17), n / 8); for (;;) pause(); } for (;;) pause(); }\n"
    "KERNEL(shares_with_children) { fill(malloc(n << 20), n); for (int i = 0; i < 4; i++) if (fork() == 0)\n"
    "    for (;;) pause(); usleep(300000); return 0; }\n"
    "KERNEL(uses_what_it_is_given) { for (int64_t i = 0; i < n << 18; i += 1024) y[i] = 1; usleep(300000); "
    "return "
    "0; }\n"
    "static void *eats_on(void *p) { for (volatile int *c = p; *c < 4096; ++*c) fill(malloc(1 << 20), 1); "
    "return p; "
    "}\n"
    "KERNEL(eats_later) { pthread_t t; y[0] = 0; return pthread_create(&t, NULL, eats_on, y); }\n"
    "static void *waits(void *p) { pause(); return p; }\n"
    "KERNEL(threads) { pthread_attr_t a; pthread_t t; pthread_attr_init(&a); pthread_attr_setstacksize(&a, 1 "
    "<< "
    "16);\n"
    "    for (int64_t i = 0; i < n; i++) if (pthread_create(&t, &a, waits, 0)) usleep(1000); usleep(300000); "
    "return 0; "
    "}\n"
    "KERNEL(forks) { for (int64_t i = 0; i < n; i++) if (fork() == 0) for (;;) pause(); usleep(300000); "
    "return 0; "
    "}\n";

/* Candidates that reach beyond their own memory. */
static const char hostile[] =
    "static sigjmp_buf out; static void hide(int s) { (void)s; siglongjmp(out, 1); }\n"
    "KERNEL(handles_past) { struct sigaction a = {.sa_handler = hide, .sa_flags = SA_NODEFER};\n"
    "    if (sigaction(SIGSEGV, &a, NULL) || sigaction(SIGBUS, &a, NULL)) return 8;\n"
    "    if (sigsetjmp(out, 1) == 0) ((volatile float *)y)[n + 3] = 1;\n    return 0; }\n"
    "KERNEL(leaves_a_daemon) { (void)stream; if (fork() == 0) { setsid(); if (fork() == 0)\n"
    "    for (volatile int *c = (volatile int *)y;; ++*c) usleep(100); _exit(0); } usleep(20000); return 0; "
    "}\n"
    "static int sees(const char *path) { return access(path, F_OK) == 0; }\n"
    "KERNEL(looks_around) { (void)stream; return sees(\"/etc/shadow\") + 2 * sees(\"/root\") + 4 * "
    "sees(\"/home\") + 8 * \n"
    "    sees(\"/etc/passwd\") + 16 * sees(\"/run\") + 32 * sees(\"/var\") + 64 * !sees(\"/usr/lib\"); }\n"
    "KERNEL(breaks_out) { (void)stream; return (ptrace(PTRACE_TRACEME, 0, 0, 0) == 0) + 2 * "
    "(unshare(CLONE_NEWUSER) == 0)\n"
    "    + 4 * (syscall(SYS_perf_event_open, 0, 0, -1, -1, 0) != -1 || errno != EPERM)\n"
    "    + 8 * (syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0) >= 0)\n"
    "    + 16 * (kill(getppid(), SIGKILL) == 0) + 32 * (kill(-1, SIGKILL) == 0); }\n"
    "KERNEL(starts_threads) { int sum = 0;\n#pragma omp parallel num_threads(3) reduction(+ : sum)\n"
    "    sum++;\n    if (fork() == 0) _exit(0);\n    return sum != 3; }\n";

void fixture_write(const char *path, const char *content)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(content, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

void fixture_compile(struct build *build, const char *name, const char *source)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", it.folder, name);
    fixture_write(path, source);
    struct build_options options = {.path = path, .timeout = 60};
    ck_assert_msg(build_candidate(build, &options, it.text, sizeof it.text) == BUILD_OK, "%s", it.text);
}

static void fixture_open(void)
{
    strcpy(it.folder, "/tmp/unseen-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(it.folder));
    char all[sizeof candidates + sizeof greedy + sizeof hostile];
    snprintf(all, sizeof all, "%s%s%s", candidates, greedy, hostile);
    fixture_compile(&it.built, "candidates.c", all);
}

static void fixture_close(void)
{
    char path[128];
    snprintf(path, sizeof path, "%s/candidates.c", it.folder);
    build_clear(&it.built);
    unlink(path);
    rmdir(it.folder);
}

static void fixture_make_regions(void)
{
    ck_assert_int_eq(
        region_create(&it.x, BACKEND_HOST, FIXTURE_COUNT * 4, REGION_ALIGN, it.text, sizeof it.text), 0);
    ck_assert_int_eq(
        region_create(&it.y, BACKEND_HOST, FIXTURE_COUNT * 4, REGION_ALIGN, it.text, sizeof it.text), 0);
}

static void fixture_drop_regions(void)
{
    child_stop(it.child);
    it.child = NULL;
    it.memory = 0;
    region_destroy(&it.x);
    region_destroy(&it.y);
}

enum child_status fixture_start_object(const char *object, const char *symbol, const char *log)
{
    struct child_options options = {.object = object,
                                    .symbol = symbol,
                                    .load_timeout = 20,
                                    .memory = it.memory,
                                    .threads = 2,
                                    .log_path = log};
    return child_start(&it.child, &options, it.text, sizeof it.text);
}

void fixture_start(const char *symbol)
{
    ck_assert_msg(fixture_start_object(it.built.object, symbol, NULL) == CHILD_OK, "%s", it.text);
    ck_assert_msg(child_map(it.child, 0, 0, &it.x, it.text, sizeof it.text) == CHILD_OK, "%s", it.text);
    ck_assert_msg(child_map(it.child, 0, 1, &it.y, it.text, sizeof it.text) == CHILD_OK, "%s", it.text);
}

struct call fixture_make_call(enum placement placement)
{
    return (struct call){.tensors = 2,
                         .arguments = 1,
                         .argument = {{.value.whole = FIXTURE_COUNT}},
                         .offset = {region_offset(&it.x, placement), region_offset(&it.y, placement)}};
}

enum child_status fixture_make(const struct call *call, double timeout, int *returned)
{
    struct child_answer answer = {0};
    const enum child_status status = child_call(it.child, call, timeout, &answer, it.text, sizeof it.text);
    if (status == CHILD_OK)
        *returned = answer.returned;
    return status;
}

enum child_status fixture_call(enum placement placement, double timeout, int *returned)
{
    struct call call = fixture_make_call(placement);
    return fixture_make(&call, timeout, returned);
}

enum child_status fixture_run(const char *symbol, enum placement placement, int *returned)
{
    fixture_start(symbol);
    return fixture_call(placement, 20, returned);
}

void fixture_add(TCase *tests)
{
    tcase_set_timeout(tests, 60);
    tcase_add_unchecked_fixture(tests, fixture_open, fixture_close);
    tcase_add_checked_fixture(tests, fixture_make_regions, fixture_drop_regions);
}
