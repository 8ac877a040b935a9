/* The isolated runner: what a candidate does to its own process must come out as the right
 * status, and never hurt the judge. One object holds all the candidates; the symbol chooses. */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../verify/build.h"
#include "../verify/child.h"
#include "../verify/child_table.h"

Suite *child_suite(void);

enum { COUNT = 1021 }; /* elements; neither a multiple of 4 nor of the page */

static const char candidates[] =
    "#define _GNU_SOURCE\n"
    "#include <fcntl.h>\n#include <pthread.h>\n#include <signal.h>\n#include <stdint.h>\n"
    "#include <stdio.h>\n#include <stdlib.h>\n#include <sys/socket.h>\n#include <unistd.h>\n"
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
    "KERNEL(reads_environment) { return getenv(\"UNSEEN_SECRET\") ? 1 : getenv(\"OMP_NUM_THREADS\") ? 0 : 2; }\n"
    "KERNEL(fills_disk) { static char b[1 << 20]; int f = open(\"/tmp/f\", O_CREAT | O_WRONLY, 0600);\n"
    "    for (;;) if (write(f, b, sizeof b) < 0) return 9; }\n"
    "static void *later(void *p) { usleep(100000); abort(); return p; }\n"
    "KERNEL(dies_later) { pthread_t t; return pthread_create(&t, NULL, later, NULL); }\n"
    "int seventeen(int64_t a, int64_t b, int64_t c, int64_t d, int64_t e, int64_t f, int64_t g, int64_t h,\n"
    "    int64_t i, int64_t j, int64_t k, int64_t l, int64_t m, int64_t n, int64_t o, int64_t p, void *s)\n"
    "{ return a && b && c && d && e && f && g && h && !s\n"
    "    ? i + 10 * j + 100 * k + 1000 * l + 10000 * m + 100000 * n + 1000000 * o + 10000000 * p : -1; }\n";

static char folder[64];
static struct build built;
static char text[1024];
static struct region x, y;
static struct child *child;

static void write_file(const char *path, const char *content)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(content, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

static void compile(struct build *build, const char *name, const char *source)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    write_file(path, source);
    struct build_options options = { .path = path, .timeout = 60 };
    ck_assert_msg(build_candidate(build, &options, text, sizeof text) == BUILD_OK, "%s", text);
}

static void compile_all(void)
{
    strcpy(folder, "/tmp/unseen-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    compile(&built, "candidates.c", candidates);
}

static void remove_all(void)
{
    char path[128];
    snprintf(path, sizeof path, "%s/candidates.c", folder);
    build_clear(&built);
    unlink(path);
    rmdir(folder);
}

static void make_regions(void)
{
    ck_assert_int_eq(region_create(&x, BACKEND_HOST, COUNT * 4, text, sizeof text), 0);
    ck_assert_int_eq(region_create(&y, BACKEND_HOST, COUNT * 4, text, sizeof text), 0);
}

static void drop_regions(void)
{
    child_stop(child);
    child = NULL;
    region_destroy(&x);
    region_destroy(&y);
}

static enum child_status start_object(const char *object, const char *symbol, const char *log)
{
    struct child_options options = { .object = object, .symbol = symbol, .load_timeout = 20,
                                     .threads = 2, .log_path = log };
    return child_start(&child, &options, text, sizeof text);
}

static void start(const char *symbol)
{
    ck_assert_msg(start_object(built.object, symbol, NULL) == CHILD_OK, "%s", text);
    ck_assert_msg(child_map(child, 0, &x, text, sizeof text) == CHILD_OK, "%s", text);
    ck_assert_msg(child_map(child, 1, &y, text, sizeof text) == CHILD_OK, "%s", text);
}

static struct call make_call(enum placement placement)
{
    return (struct call){ .tensors = 2, .extents = 1, .extent = { COUNT },
                          .offset = { region_offset(&x, placement), region_offset(&y, placement) } };
}

static enum child_status call_with(enum placement placement, double timeout, int *returned)
{
    struct call call = make_call(placement);
    return child_call(child, &call, timeout, returned, text, sizeof text);
}

static enum child_status run_one(const char *symbol, enum placement placement, int *returned)
{
    start(symbol);
    return call_with(placement, 20, returned);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static bool sandboxed(void)
{
    return strstr(child_sandbox(), "bubblewrap: ") != NULL;
}

START_TEST(regions_hold_whole_granules_and_place_on_both_ends)
{
    ck_assert_uint_eq(x.mapped, 4096);
    ck_assert_uint_eq(region_offset(&x, PLACE_LOW), 0);
    ck_assert_uint_eq(region_offset(&x, PLACE_HIGH), (4096 - COUNT * 4) / 16 * 16);
    struct region empty, huge;
    ck_assert_int_eq(region_create(&empty, BACKEND_HOST, 0, text, sizeof text), 0);
    ck_assert_uint_eq(empty.mapped, 4096);
    region_destroy(&empty);
    region_destroy(&empty);
    ck_assert_int_eq(region_create(&huge, BACKEND_HOST, (size_t)1 << 50, text, sizeof text), -1);
    ck_assert_ptr_nonnull(strstr(text, "no memory"));
    ck_assert_int_eq(region_create(&huge, BACKEND_HOST, SIZE_MAX, text, sizeof text), -1);
}
END_TEST

START_TEST(a_call_computes_in_shared_memory_and_returns_zero)
{
    int returned = -1;
    start("doubles");
    for (int round = 0; round < 4; round++) {
        enum placement placement = round % 2 ? PLACE_HIGH : PLACE_LOW;
        float *in = (float *)((char *)x.base + region_offset(&x, placement));
        float *out = (float *)((char *)y.base + region_offset(&y, placement));
        for (int i = 0; i < COUNT; i++)
            in[i] = (float)(i + round);
        ck_assert_msg(call_with(placement, 20, &returned) == CHILD_OK, "%s", text);
        ck_assert_int_eq(returned, 0);
        for (int i = 0; i < COUNT; i++)
            ck_assert(out[i] == (float)(2 * (i + round)));
    }
}
END_TEST

START_TEST(a_refusal_comes_back_as_its_value)
{
    int returned = 0;
    ck_assert_int_eq(run_one("refuses", PLACE_LOW, &returned), CHILD_OK);
    ck_assert_int_eq(returned, 7);
}
END_TEST

START_TEST(a_null_pointer_is_a_crash_and_a_restart_works)
{
    int returned = 0;
    ck_assert_int_eq(run_one("writes_null", PLACE_LOW, &returned), CHILD_CRASH);
    ck_assert_ptr_nonnull(strstr(text, "signal 11"));
    ck_assert_int_eq(child_fault(child).slot, -1);
    ck_assert_int_eq(call_with(PLACE_LOW, 1, &returned), CHILD_CRASH);
    child_stop(child);
    ck_assert_int_eq(run_one("doubles", PLACE_LOW, &returned), CHILD_OK);
}
END_TEST

/* 1021 floats leave 12 bytes of slack below the upper guard: y is given 1024 floats here, flush. */
START_TEST(one_element_past_the_end_is_an_overrun_of_that_tensor)
{
    int returned;
    const char *names[] = { "writes_past", "threads_past" };
    region_destroy(&y);
    ck_assert_int_eq(region_create(&y, BACKEND_HOST, 1024 * 4, text, sizeof text), 0);
    start(names[_i]);
    struct call call = make_call(PLACE_HIGH);
    call.extent[0] = 1024;
    ck_assert_int_eq(child_call(child, &call, 20, &returned, text, sizeof text), CHILD_OVERRUN);
    struct child_fault fault = child_fault(child);
    ck_assert_int_eq(fault.slot, 1);
    ck_assert(!fault.below);
    ck_assert_uint_eq(fault.distance, 0);
    ck_assert_str_eq(text, "touched memory above tensor 1: 0 bytes past the end of its memory");
}
END_TEST

START_TEST(one_element_before_the_start_is_an_overrun_below)
{
    int returned;
    ck_assert_int_eq(run_one("reads_before", PLACE_LOW, &returned), CHILD_OVERRUN);
    struct child_fault fault = child_fault(child);
    ck_assert_int_eq(fault.slot, 0);
    ck_assert(fault.below);
    ck_assert_uint_eq(fault.distance, 4);
}
END_TEST

START_TEST(a_stride_in_the_wrong_unit_is_an_overrun)
{
    int returned;
    ck_assert_int_eq(run_one("strides_wrong", PLACE_HIGH, &returned), CHILD_OVERRUN);
    ck_assert_int_eq(child_fault(child).slot, 0);
}
END_TEST

struct ending {
    const char *symbol;
    enum child_status status;
    const char *words;
};

static const struct ending endings[] = {
    { "aborts", CHILD_CRASH, "killed by signal 6 (Aborted)" },
    { "exits", CHILD_CRASH, "exited with status 0 before answering" },
    { "recurses", CHILD_CRASH, "signal 11" },
    { "leaves_a_child", CHILD_CRASH, "exited with status 3" },
    { "closes_all", CHILD_CRASH, "before answering" },
    { "writes_channel", CHILD_GARBAGE, "50 41 53 53 0a" },
    { "empty_packet", CHILD_GARBAGE, "0 bytes" },
};

START_TEST(other_endings_are_told_apart)
{
    int returned = 0;
    const struct ending *ending = &endings[_i];
    double begin = now();
    ck_assert_int_eq(run_one(ending->symbol, PLACE_LOW, &returned), ending->status);
    ck_assert_msg(strstr(text, ending->words) != NULL, "%s: %s", ending->symbol, text);
    ck_assert_double_lt(now() - begin, 10);
}
END_TEST

START_TEST(an_answer_forged_in_the_right_format_is_garbage)
{
    int returned = 0;
    start("forges");
    struct call call = make_call(PLACE_LOW);
    call.extent[0] = sizeof(struct reply);
    ck_assert_int_eq(child_call(child, &call, 20, &returned, text, sizeof text), CHILD_GARBAGE);
}
END_TEST

START_TEST(closing_the_channel_does_not_stop_the_answer)
{
    int returned = 0;
    ck_assert_int_eq(run_one("closes", PLACE_LOW, &returned), CHILD_OK);
    ck_assert_int_eq(returned, 5);
    ck_assert_int_eq(call_with(PLACE_LOW, 20, &returned), CHILD_OK);
}
END_TEST

START_TEST(handlers_taken_away_are_put_back)
{
    int returned = 0;
    ck_assert_int_eq(run_one("hides_then_past", PLACE_LOW, &returned), CHILD_OK);
    struct call call = make_call(PLACE_LOW);
    call.extent[0] = (int64_t)(y.mapped / 4);
    ck_assert_int_eq(child_call(child, &call, 20, &returned, text, sizeof text), CHILD_OVERRUN);
}
END_TEST

/* Counts in shared memory while it hangs: whether it is really gone can be seen from here. */
START_TEST(a_hang_times_out_and_the_process_is_gone)
{
    int returned;
    volatile int *counter = y.base;
    start("hangs");
    double begin = now();
    ck_assert_int_eq(call_with(PLACE_LOW, 0.3, &returned), CHILD_TIMEOUT);
    ck_assert_double_lt(now() - begin, 3);
    ck_assert_int_gt(*counter, 0);
    int seen = *counter;
    usleep(20000);
    ck_assert_int_eq(*counter, seen);
}
END_TEST

static void stop_all(int number)
{
    (void)number;
    child_stop_all();
}

START_TEST(child_stop_all_ends_a_hanging_call_from_a_signal_handler)
{
    int returned;
    start("hangs");
    signal(SIGALRM, stop_all);
    alarm(1);
    double begin = now();
    ck_assert_int_eq(call_with(PLACE_LOW, 30, &returned), CHILD_CRASH);
    ck_assert_double_lt(now() - begin, 8);
}
END_TEST

/* Which of its parts ends first, and whether the judge is just polling or just reading, is left
 * to chance: none of it is something written on the channel. */
START_TEST(a_process_killed_at_any_moment_is_a_crash)
{
    int returned;
    const struct itimerval soon = { .it_value = { 0, 1000 + 700 * _i } };
    start("hangs");
    signal(SIGALRM, stop_all);
    setitimer(ITIMER_REAL, &soon, NULL);
    ck_assert_msg(call_with(PLACE_LOW, 30, &returned) == CHILD_CRASH, "%s", text);
}
END_TEST

/* The interrupt falls between a process's start and its entry in the table. */
START_TEST(a_process_entered_after_the_interrupt_ends_too)
{
    int status;
    const pid_t pid = fork();
    if (pid == 0) {
        pause();
        _exit(0);
    }
    setpgid(pid, pid);
    child_stop_all();
    ck_assert_int_eq(waitpid(pid, &status, WNOHANG), 0); /* nobody knew of it */
    child_table_add(pid);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    child_table_remove(pid);
}
END_TEST

START_TEST(the_candidate_dies_with_the_judge)
{
    volatile int *counter = y.base;
    pid_t judge = fork();
    if (judge == 0) {
        int returned;
        start("hangs");
        call_with(PLACE_LOW, 60, &returned);
        _exit(0);
    }
    for (double begin = now(); *counter == 0 && now() - begin < 10;)
        usleep(1000);
    ck_assert_int_gt(*counter, 0);
    kill(judge, SIGKILL);
    waitpid(judge, NULL, 0);
    usleep(100000);
    int seen = *counter;
    usleep(50000);
    ck_assert_int_eq(*counter, seen);
}
END_TEST

START_TEST(printing_without_end_times_out_and_the_log_stays_small)
{
    int returned;
    char log[128];
    struct stat status;
    snprintf(log, sizeof log, "%s/log", folder);
    for (int round = 0; round < 2; round++) {
        ck_assert_int_eq(start_object(built.object, "prints", log), CHILD_OK);
        child_map(child, 0, &x, text, sizeof text);
        child_map(child, 1, &y, text, sizeof text);
        ck_assert_int_eq(call_with(PLACE_LOW, 0.5, &returned), CHILD_TIMEOUT);
        child_stop(child);
        child = NULL;
    }
    ck_assert_int_eq(stat(log, &status), 0);
    unlink(log);
    ck_assert_int_eq(status.st_size, 65536);
}
END_TEST

START_TEST(what_is_printed_is_in_the_log_after_the_call)
{
    int returned;
    char log[128], line[32] = "";
    snprintf(log, sizeof log, "%s/log", folder);
    ck_assert_int_eq(start_object(built.object, "says_pass", log), CHILD_OK);
    child_map(child, 0, &x, text, sizeof text);
    child_map(child, 1, &y, text, sizeof text);
    ck_assert_int_eq(call_with(PLACE_LOW, 20, &returned), CHILD_OK);
    FILE *file = fopen(log, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_ptr_nonnull(fgets(line, sizeof line, file));
    fclose(file);
    unlink(log);
    ck_assert_str_eq(line, "PASS\n");
}
END_TEST

START_TEST(an_answer_before_dying_counts_and_the_next_call_reports_the_death)
{
    int returned = -1;
    ck_assert_int_eq(run_one("dies_later", PLACE_LOW, &returned), CHILD_OK);
    ck_assert_int_eq(returned, 0);
    usleep(300000);
    ck_assert_int_eq(call_with(PLACE_LOW, 20, &returned), CHILD_CRASH);
    ck_assert_msg(strstr(text, "signal 6") != NULL, "%s", text);
}
END_TEST

START_TEST(the_sandbox_keeps_parent_files_and_disk_safe)
{
    int returned = -1;
    if (!sandboxed())
        return;
    ck_assert_int_eq(run_one("kills_parent", PLACE_LOW, &returned), CHILD_OK);
    child_stop(child);
    ck_assert_int_eq(run_one("writes_files", PLACE_LOW, &returned), CHILD_OK);
    ck_assert_int_eq(returned, 1); /* its own /tmp only */
    ck_assert_int_ne(access("/tmp/unseen-test-leak", F_OK), 0);
    child_stop(child);
    ck_assert_int_eq(run_one("fills_disk", PLACE_LOW, &returned), CHILD_CRASH);
}
END_TEST

START_TEST(without_the_sandbox_the_rest_still_works)
{
    int returned = -1;
    setenv("UNSEEN_NO_SANDBOX", "1", 1);
    ck_assert(!sandboxed());
    ck_assert_ptr_nonnull(strstr(child_sandbox(), "UNSEEN_NO_SANDBOX=1"));
    ck_assert_int_eq(run_one("doubles", PLACE_HIGH, &returned), CHILD_OK);
    child_stop(child);
    ck_assert_int_eq(run_one("aborts", PLACE_HIGH, &returned), CHILD_CRASH);
    ck_assert_str_eq(text, "killed by signal 6 (Aborted)");
    child_stop(child);
    ck_assert_int_eq(run_one("leaves_a_child", PLACE_HIGH, &returned), CHILD_CRASH);
    child_stop(child);
    start("hangs");
    ck_assert_int_eq(call_with(PLACE_LOW, 0.2, &returned), CHILD_TIMEOUT);
}
END_TEST

START_TEST(the_environment_is_emptied)
{
    int returned = -1;
    setenv("UNSEEN_SECRET", "91", 1);
    ck_assert_int_eq(run_one("reads_environment", PLACE_LOW, &returned), CHILD_OK);
    ck_assert_int_eq(returned, 0);
}
END_TEST

START_TEST(seventeen_arguments_arrive_in_order)
{
    int returned = 0;
    struct call call = { .tensors = 8, .extents = 8, .extent = { 1, 2, 3, 4, 5, 6, 7, 8 } };
    ck_assert_int_eq(start_object(built.object, "seventeen", NULL), CHILD_OK);
    for (int i = 0; i < 8; i++)
        ck_assert_int_eq(child_map(child, i, i % 2 ? &x : &y, text, sizeof text), CHILD_OK);
    ck_assert_int_eq(child_call(child, &call, 20, &returned, text, sizeof text), CHILD_OK);
    ck_assert_int_eq(returned, 87654321);
    ck_assert_int_eq(child_unmap(child, text, sizeof text), CHILD_OK);
}
END_TEST

START_TEST(a_missing_symbol_and_a_broken_object_say_so)
{
    char path[128];
    ck_assert_int_eq(start_object(built.object, "absent", NULL), CHILD_SYMBOL);
    ck_assert_ptr_null(child);
    ck_assert_ptr_nonnull(strstr(text, "'absent'"));
    snprintf(path, sizeof path, "%s/text.so", folder);
    write_file(path, "this is no object\n");
    ck_assert_int_eq(start_object(path, "doubles", NULL), CHILD_LOAD);
    unlink(path);
    ck_assert_int_eq(start_object(path, "doubles", NULL), CHILD_LOAD);
    ck_assert_ptr_nonnull(strstr(text, "No such file"));
}
END_TEST

START_TEST(exit_in_a_constructor_is_a_crash)
{
    struct build other;
    char path[128];
    compile(&other, "leaves.c", "#include <unistd.h>\n__attribute__((constructor)) static void leave(void)"
            " { _exit(0); }\nint doubles(void) { return 0; }\n");
    ck_assert_int_eq(start_object(other.object, "doubles", NULL), CHILD_CRASH);
    ck_assert_str_eq(text, "exited with status 0 before answering");
    snprintf(path, sizeof path, "%s/leaves.c", folder);
    unlink(path);
    build_clear(&other);
}
END_TEST

START_TEST(timing_gives_plausible_samples)
{
    struct reply reply;
    struct call call = make_call(PLACE_HIGH);
    start("doubles");
    ck_assert_int_eq(child_time(child, &call, CHANNEL_SAMPLES, 0, 20, &reply, text, sizeof text),
                     CHILD_OK);
    ck_assert_uint_eq(reply.samples, CHANNEL_SAMPLES);
    for (int i = 0; i < CHANNEL_SAMPLES; i++) {
        ck_assert_double_gt(reply.event_ms[i], 0);
        ck_assert_double_lt(reply.event_ms[i], 1000);
        ck_assert_double_ge(reply.wall_ms[i], reply.event_ms[i]);
    }
    child_stop(child);
    start("refuses");
    ck_assert_int_eq(child_time(child, &call, 5, 0, 20, &reply, text, sizeof text), CHILD_OK);
    ck_assert_int_eq(reply.value, 7);
    ck_assert_uint_eq(reply.samples, 0);
}
END_TEST

START_TEST(cuda_without_a_device_says_so)
{
    struct child_options options = { .backend = BACKEND_CUDA, .object = built.object,
                                     .symbol = "doubles", .load_timeout = 20 };
    enum child_status status = child_start(&child, &options, text, sizeof text);
    if (status == CHILD_OK) /* a machine with a GPU */
        return;
    ck_assert_int_eq(status, CHILD_DEVICE);
    ck_assert_int_gt((int)strlen(text), 10);
}
END_TEST

static void add_endings(TCase *tests)
{
    tcase_add_test(tests, a_null_pointer_is_a_crash_and_a_restart_works);
    tcase_add_loop_test(tests, one_element_past_the_end_is_an_overrun_of_that_tensor, 0, 2);
    tcase_add_test(tests, one_element_before_the_start_is_an_overrun_below);
    tcase_add_test(tests, a_stride_in_the_wrong_unit_is_an_overrun);
    tcase_add_loop_test(tests, other_endings_are_told_apart, 0, sizeof endings / sizeof *endings);
    tcase_add_test(tests, an_answer_forged_in_the_right_format_is_garbage);
    tcase_add_test(tests, closing_the_channel_does_not_stop_the_answer);
    tcase_add_test(tests, handlers_taken_away_are_put_back);
    tcase_add_test(tests, a_hang_times_out_and_the_process_is_gone);
    tcase_add_test(tests, child_stop_all_ends_a_hanging_call_from_a_signal_handler);
    tcase_add_loop_test(tests, a_process_killed_at_any_moment_is_a_crash, 0, 20);
    tcase_add_test(tests, a_process_entered_after_the_interrupt_ends_too);
    tcase_add_test(tests, the_candidate_dies_with_the_judge);
    tcase_add_test(tests, printing_without_end_times_out_and_the_log_stays_small);
    tcase_add_test(tests, an_answer_before_dying_counts_and_the_next_call_reports_the_death);
    tcase_add_test(tests, exit_in_a_constructor_is_a_crash);
}

Suite *child_suite(void)
{
    Suite *suite = suite_create("child");
    TCase *tests = tcase_create("runner");
    tcase_set_timeout(tests, 60);
    tcase_add_unchecked_fixture(tests, compile_all, remove_all);
    tcase_add_checked_fixture(tests, make_regions, drop_regions);
    tcase_add_test(tests, regions_hold_whole_granules_and_place_on_both_ends);
    tcase_add_test(tests, a_call_computes_in_shared_memory_and_returns_zero);
    tcase_add_test(tests, a_refusal_comes_back_as_its_value);
    add_endings(tests);
    tcase_add_test(tests, what_is_printed_is_in_the_log_after_the_call);
    tcase_add_test(tests, the_sandbox_keeps_parent_files_and_disk_safe);
    tcase_add_test(tests, without_the_sandbox_the_rest_still_works);
    tcase_add_test(tests, the_environment_is_emptied);
    tcase_add_test(tests, seventeen_arguments_arrive_in_order);
    tcase_add_test(tests, a_missing_symbol_and_a_broken_object_say_so);
    tcase_add_test(tests, timing_gives_plausible_samples);
    tcase_add_test(tests, cuda_without_a_device_says_so);
    suite_add_tcase(suite, tests);
    return suite;
}
