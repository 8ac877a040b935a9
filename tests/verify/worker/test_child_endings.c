/* Acts of a candidate on its own process, and of others on it, must have the right status, and never hurt the
 * judge. */
#include "child_fixture.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verify/worker/child_internal.h"
#include "verify/sandbox/child_table.h"
#include "verify/util/clock.h"
#include "verify/sandbox/child_table.h"

START_TEST(a_null_pointer_is_a_crash_and_a_restart_works)
{
    int returned = 0;
    ck_assert_int_eq(fixture_run("writes_null", PLACE_LOW, &returned), CHILD_CRASH);
    ck_assert_ptr_nonnull(strstr(it.text, "signal 11"));
    ck_assert_int_eq(child_fault(it.child).slot, -1);
    ck_assert_int_eq(fixture_call(PLACE_LOW, 1, &returned), CHILD_CRASH);
    child_stop(it.child);
    ck_assert_int_eq(fixture_run("doubles", PLACE_LOW, &returned), CHILD_OK);
}
END_TEST

/* 1021 floats leave 12 bytes of slack below the upper guard: y is given 1024 floats here, flush. */
START_TEST(one_element_past_the_end_is_an_overrun_of_that_tensor)
{
    int returned;
    const char *names[] = {"writes_past", "threads_past"};
    region_destroy(&it.y);
    ck_assert_int_eq(region_create(&it.y, BACKEND_HOST, 1024 * 4, REGION_ALIGN, it.text, sizeof it.text), 0);
    fixture_start(names[_i]);
    struct call call = fixture_make_call(PLACE_HIGH);
    call.argument[0].value.whole = 1024;
    ck_assert_int_eq(fixture_make(&call, 20, &returned), CHILD_OVERRUN);
    struct child_fault fault = child_fault(it.child);
    ck_assert_int_eq(fault.slot, 1);
    ck_assert(!fault.below);
    ck_assert_uint_eq(fault.distance, 0);
    ck_assert_str_eq(it.text, "touched memory above tensor 1: 0 bytes past the end of its memory");
}
END_TEST

START_TEST(one_element_before_the_start_is_an_overrun_below)
{
    int returned;
    ck_assert_int_eq(fixture_run("reads_before", PLACE_LOW, &returned), CHILD_OVERRUN);
    struct child_fault fault = child_fault(it.child);
    ck_assert_int_eq(fault.slot, 0);
    ck_assert(fault.below);
    ck_assert_uint_eq(fault.distance, 4);
}
END_TEST

START_TEST(a_stride_in_the_wrong_unit_is_an_overrun)
{
    int returned;
    ck_assert_int_eq(fixture_run("strides_wrong", PLACE_HIGH, &returned), CHILD_OVERRUN);
    ck_assert_int_eq(child_fault(it.child).slot, 0);
}
END_TEST

struct ending {
    const char *symbol;
    enum child_status status;
    const char *words;
};

static const struct ending endings[] = {
    {"aborts", CHILD_CRASH, "killed by signal 6 (Aborted)"},
    {"exits", CHILD_CRASH, "exited with status 0 before answering"},
    {"recurses", CHILD_CRASH, "signal 11"},
    {"leaves_a_child", CHILD_CRASH, "exited with status 3"},
    {"closes_all", CHILD_CRASH, "before answering"},
    {"writes_channel", CHILD_GARBAGE, "50 41 53 53 0a"},
    {"empty_packet", CHILD_GARBAGE, "0 bytes"},
};

START_TEST(other_endings_are_told_apart)
{
    int returned = 0;
    const struct ending *ending = &endings[_i];
    double begin = clock_seconds();
    ck_assert_int_eq(fixture_run(ending->symbol, PLACE_LOW, &returned), ending->status);
    ck_assert_msg(strstr(it.text, ending->words) != NULL, "%s: %s", ending->symbol, it.text);
    ck_assert_double_lt(clock_seconds() - begin, 10);
}
END_TEST

START_TEST(an_answer_forged_in_the_right_format_is_garbage)
{
    int returned = 0;
    fixture_start("forges");
    struct call call = fixture_make_call(PLACE_LOW);
    call.argument[0].value.whole = sizeof(struct reply);
    ck_assert_int_eq(fixture_make(&call, 20, &returned), CHILD_GARBAGE);
}
END_TEST

START_TEST(closing_the_channel_does_not_stop_the_answer)
{
    int returned = 0;
    ck_assert_int_eq(fixture_run("closes", PLACE_LOW, &returned), CHILD_OK);
    ck_assert_int_eq(returned, 5);
    ck_assert_int_eq(fixture_call(PLACE_LOW, 20, &returned), CHILD_OK);
}
END_TEST

START_TEST(handlers_taken_away_are_put_back)
{
    int returned = 0;
    ck_assert_int_eq(fixture_run("hides_then_past", PLACE_LOW, &returned), CHILD_OK);
    struct call call = fixture_make_call(PLACE_LOW);
    call.argument[0].value.whole = (int64_t)(it.y.mapped / 4);
    ck_assert_int_eq(fixture_make(&call, 20, &returned), CHILD_OVERRUN);
}
END_TEST

/* Counts in shared memory while it hangs, so that its end can be seen from here. */
START_TEST(a_hang_times_out_and_the_process_is_gone)
{
    int returned;
    volatile int *counter = it.y.base;
    fixture_start("hangs");
    double begin = clock_seconds();
    ck_assert_int_eq(fixture_call(PLACE_LOW, 0.5, &returned), CHILD_TIMEOUT);
    ck_assert_double_lt(clock_seconds() - begin,
                        10 * 0.5 + 2); /* where it waits for a core most of the time */
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
    fixture_start("hangs");
    signal(SIGALRM, stop_all);
    alarm(1);
    double begin = clock_seconds();
    ck_assert_int_eq(fixture_call(PLACE_LOW, 30, &returned), CHILD_KILLED);
    ck_assert_double_lt(clock_seconds() - begin, 8);
}
END_TEST

/* Replaces the C library's function, to choose the events between the judge's poll and its read. */
static int closed_before_recv = -1;

ssize_t recv(int fd, void *buffer, size_t size, int flags)
{
    if (closed_before_recv >= 0)
        close(closed_before_recv);
    closed_before_recv = -1;
    return recvfrom(fd, buffer, size, flags, NULL, NULL);
}

/* The process has ended, and the last owner of its end of the channel closes it just before the read. */
START_TEST(an_end_between_poll_and_read_is_no_packet)
{
    int channel[2];
    struct reply reply;
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, channel), 0);
    const pid_t pid = fork();
    if (pid == 0)
        _exit(3);
    struct child child = {.process = {pid, pidfd_open(pid, 0), channel[0], -1}, .log = -1};
    siginfo_t info;
    ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    closed_before_recv = channel[1];
    ck_assert_int_eq(child_wait(&child, 1, REPLY_DONE, 10, &reply, it.text, sizeof it.text), CHILD_CRASH);
    ck_assert_int_eq(closed_before_recv, -1);
    ck_assert_str_eq(it.text, "exited with status 3 before answering");
    close(child.process.pidfd);
    close(channel[0]);
}
END_TEST

/* Chance decides which of its parts ends first, and whether the judge is polling or reading. None of it is a
 * message on the channel. */
START_TEST(a_process_killed_at_any_moment_was_killed)
{
    int returned;
    const struct itimerval soon = {.it_value = {0, 1000 + 700 * _i}};
    fixture_start("hangs");
    signal(SIGALRM, stop_all);
    setitimer(ITIMER_REAL, &soon, NULL);
    ck_assert_msg(fixture_call(PLACE_LOW, 30, &returned) == CHILD_KILLED, "%s", it.text);
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
    ck_assert_int_eq(waitpid(pid, &status, WNOHANG), 0); /* it was unknown here */
    child_table_starting();
    child_table_started(pid);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    child_table_remove(pid);
}
END_TEST

START_TEST(the_candidate_dies_with_the_judge)
{
    volatile int *counter = it.y.base;
    pid_t judge = fork();
    if (judge == 0) {
        int returned;
        fixture_start("hangs");
        fixture_call(PLACE_LOW, 60, &returned);
        _exit(0);
    }
    for (double begin = clock_seconds(); *counter == 0 && clock_seconds() - begin < 10;)
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
    snprintf(log, sizeof log, "%s/log", it.folder);
    for (int round = 0; round < 2; round++) {
        ck_assert_int_eq(fixture_start_object(it.built.object, "prints", log), CHILD_OK);
        child_map(it.child, 0, 0, &it.x, it.text, sizeof it.text);
        child_map(it.child, 0, 1, &it.y, it.text, sizeof it.text);
        ck_assert_int_eq(fixture_call(PLACE_LOW, 1.5, &returned), CHILD_TIMEOUT);
        child_stop(it.child);
        it.child = NULL;
    }
    ck_assert_int_eq(stat(log, &status), 0);
    unlink(log);
    ck_assert_int_eq(status.st_size, 65536);
}
END_TEST

START_TEST(an_answer_before_dying_counts_and_the_next_call_reports_the_death)
{
    int returned = -1;
    ck_assert_int_eq(fixture_run("dies_later", PLACE_LOW, &returned), CHILD_OK);
    ck_assert_int_eq(returned, 0);
    usleep(300000);
    ck_assert_int_eq(fixture_call(PLACE_LOW, 20, &returned), CHILD_CRASH);
    ck_assert_msg(strstr(it.text, "signal 6") != NULL, "%s", it.text);
}
END_TEST

START_TEST(exit_in_a_constructor_is_a_crash)
{
    struct build other;
    char path[128];
    fixture_compile(&other, "leaves.c",
                    "#include <unistd.h>\n__attribute__((constructor)) static void leave(void)"
                    " { _exit(0); }\nint doubles(void) { return 0; }\n");
    ck_assert_int_eq(fixture_start_object(other.object, "doubles", NULL), CHILD_CRASH);
    ck_assert_str_eq(it.text, "exited with status 0 before answering");
    snprintf(path, sizeof path, "%s/leaves.c", it.folder);
    unlink(path);
    build_clear(&other);
}
END_TEST

TCase *child_endings_case(void)
{
    TCase *tests = tcase_create("endings");
    fixture_add(tests);
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
    tcase_add_test(tests, an_end_between_poll_and_read_is_no_packet);
    tcase_add_loop_test(tests, a_process_killed_at_any_moment_was_killed, 0, 20);
    tcase_add_test(tests, a_process_entered_after_the_interrupt_ends_too);
    tcase_add_test(tests, the_candidate_dies_with_the_judge);
    tcase_add_test(tests, printing_without_end_times_out_and_the_log_stays_small);
    tcase_add_test(tests, an_answer_before_dying_counts_and_the_next_call_reports_the_death);
    tcase_add_test(tests, exit_in_a_constructor_is_a_crash);
    return tests;
}
