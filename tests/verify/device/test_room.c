/* Shared and exclusive use of a device's memory. */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suites.h"
#include "verify/device/memory_gate.h"
#include "verify/util/clock.h"

static char directory[64], why[400];

/* Seen by all processes. */
static volatile struct {
    int inside, alone, most, spoiled;
    double came[2]; /* when the exclusive process, and the one that came later, was inside */
} * seen;

static struct memory_gate *open_room(void)
{
    struct memory_gate *const room = memory_gate_open(directory, "host", why, sizeof why);
    ck_assert_msg(room != NULL, "%s", why);
    return room;
}

static void open_one(void)
{
    strcpy(directory, "/tmp/unseen-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne((void *)seen, MAP_FAILED);
}

static void drop(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", directory);
    ck_assert_int_eq(system(command), 0);
}

static void look(void)
{
    if (seen->alone && (seen->alone > 1 || seen->inside))
        seen->spoiled = 1;
    if (seen->inside > seen->most)
        seen->most = seen->inside;
}

/* Enters and leaves, every fourth time alone. */
static void visit(struct memory_gate *room, int times)
{
    for (int i = 0; i < times; i++) {
        const bool alone = i % 4 == 3;
        volatile int *const count = alone ? &seen->alone : &seen->inside;
        ck_assert(alone ? memory_gate_enter_alone(room) : memory_gate_enter(room));
        __atomic_add_fetch(count, 1, __ATOMIC_SEQ_CST);
        look();
        usleep(2000);
        look();
        __atomic_sub_fetch(count, 1, __ATOMIC_SEQ_CST);
        if (alone)
            memory_gate_leave_alone(room);
        else
            memory_gate_leave(room);
    }
}

START_TEST(several_are_inside_and_one_is_alone)
{
    pid_t visitor[3];
    for (int p = 0; p < 3; p++) {
        visitor[p] = fork();
        if (visitor[p] == 0) {
            struct memory_gate *const room = open_room();
#pragma omp parallel num_threads(2)
            visit(room, 40);
            memory_gate_close(room);
            _exit(0);
        }
    }
    for (int p = 0; p < 3; p++) {
        int status;
        ck_assert_int_eq(waitpid(visitor[p], &status, 0), visitor[p]);
        ck_assert_int_eq(status, 0);
    }
    ck_assert_int_eq(seen->spoiled, 0);
    ck_assert_int_ge(seen->most, 2);
}
END_TEST

/* A stream of visitors cannot keep out a process that wants to be alone, and a dead one holds nothing. */
START_TEST(who_wants_to_be_alone_goes_before_who_comes_later)
{
    struct memory_gate *const first = open_room();
    ck_assert(memory_gate_enter(first));
    for (int i = 0; i < 2; i++)
        if (fork() == 0) {
            usleep((useconds_t)i * 300000);
            struct memory_gate *const room = open_room();
            ck_assert(i == 0 ? memory_gate_enter_alone(room) : memory_gate_enter(room));
            seen->came[i] = clock_seconds();
            _exit(0); /* without a word */
        }
    usleep(600000);
    ck_assert_double_eq(seen->came[0], 0);
    ck_assert_double_eq(seen->came[1], 0);
    memory_gate_leave(first);
    wait(NULL);
    wait(NULL);
    ck_assert_double_gt(seen->came[0], 0);
    ck_assert_double_ge(seen->came[1], seen->came[0]);
    ck_assert(memory_gate_enter_alone(first));
    memory_gate_leave_alone(first);
    memory_gate_close(first);
}
END_TEST

/* A process that stays inside for minutes does not keep out all others because one of them wants to be
 * alone. */
START_TEST(the_door_opens_again_while_somebody_stays)
{
    struct memory_gate *const first = open_room();
    ck_assert(memory_gate_enter(first));
    for (int i = 0; i < 2; i++)
        if (fork() == 0) {
            usleep((useconds_t)i * 100000);
            struct memory_gate *const room = open_room();
            memory_gate_set_patience(room, 0.25);
            ck_assert(i == 0 ? memory_gate_enter_alone(room) : memory_gate_enter(room));
            seen->came[i] = clock_seconds();
            _exit(0);
        }
    wait(NULL); /* for the second alone: the first of the two waits */
    ck_assert_double_eq(seen->came[0], 0);
    ck_assert_double_gt(seen->came[1], 0);
    memory_gate_leave(first);
    wait(NULL);
    ck_assert_double_gt(seen->came[0], 0);
    memory_gate_close(first);
}
END_TEST

START_TEST(without_files_everybody_may_come_in)
{
    ck_assert_ptr_null(memory_gate_open("/nowhere", "host", why, sizeof why));
    ck_assert_ptr_nonnull(strstr(why, "/nowhere/unseen-host.door: No such file"));
    ck_assert(memory_gate_enter(NULL) && memory_gate_enter_alone(NULL));
    memory_gate_leave(NULL);
    memory_gate_leave_alone(NULL);
    memory_gate_close(NULL);
}
END_TEST

TCase *room_case(void)
{
    TCase *tests = tcase_create("room");
    tcase_add_checked_fixture(tests, open_one, drop);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, several_are_inside_and_one_is_alone);
    tcase_add_test(tests, who_wants_to_be_alone_goes_before_who_comes_later);
    tcase_add_test(tests, the_door_opens_again_while_somebody_stays);
    tcase_add_test(tests, without_files_everybody_may_come_in);
    return tests;
}
