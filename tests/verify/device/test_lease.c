/* The lease of a device, between processes. */
#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verify/util/clock.h"
#include "verify/device/lease.h"
#include "suites.h"
#include "skip.h"

static char directory[64], why[400];
static struct lease *lease;

static struct lease *open_lease(const char *device)
{
    const struct lease_options options = {.directory = directory, .device = device};
    return lease_open(&options, why, sizeof why);
}

static void open_one(void)
{
    strcpy(directory, "/tmp/unseen-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    ck_assert_int_eq(chmod(directory, 01777), 0);
    lease = open_lease("host");
    ck_assert_msg(lease != NULL, "%s", why);
}

static void drop(void)
{
    char command[128];
    lease_close(lease);
    snprintf(command, sizeof command, "rm -r '%s'", directory);
    ck_assert_int_eq(system(command), 0);
}

static void pause_ms(int ms)
{
    usleep((useconds_t)ms * 1000);
}

/* A process that has the lease (or only uses the device) from when this returns until it is killed. */
static pid_t start_neighbour(bool takes)
{
    int ready[2];
    char byte;
    ck_assert_int_eq(pipe(ready), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        struct lease *own = open_lease("host");
        if (!own || (takes && !lease_take(own)) || write(ready[1], "", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return pid;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

START_TEST(a_lease_is_had_given_back_and_had_again)
{
    for (int i = 0; i < 3; i++) {
        ck_assert(lease_take(lease));
        ck_assert(lease_is_alone(lease));
        lease_give(lease);
    }
    ck_assert_double_lt(lease_waited(lease), 0.5);
}
END_TEST

START_TEST(what_another_process_holds_is_waited_for_and_ends_with_it)
{
    const pid_t holder = start_neighbour(true), killer = fork();
    if (killer == 0) {
        pause_ms(300);
        kill(holder, SIGKILL);
        _exit(0);
    }
    const double start = clock_seconds();
    ck_assert(lease_take(lease));
    ck_assert_double_gt(clock_seconds() - start, 0.2);
    ck_assert_double_gt(lease_waited(lease), 0.2);
    waitpid(killer, NULL, 0);
    waitpid(holder, NULL, 0);
    ck_assert(lease_is_alone(lease));
}
END_TEST

START_TEST(another_user_of_the_device_is_seen_and_its_end_too)
{
    const pid_t neighbour = start_neighbour(false);
    ck_assert(lease_take(lease));
    ck_assert(!lease_is_alone(lease));
    ck_assert(!lease_is_alone(lease));
    end(neighbour);
    ck_assert(lease_is_alone(lease));
}
END_TEST

/* The next one has the turn by then, and waits for the lease. */
START_TEST(who_has_it_may_take_it_again_while_another_waits)
{
    int had[2];
    char byte = 0;
    ck_assert_int_eq(pipe(had), 0);
    ck_assert(lease_take(lease));
    const pid_t next = fork();
    if (next == 0) {
        struct lease *own = open_lease("host");
        if (own && lease_take(own))
            _exit(write(had[1], "", 1) != 1);
        _exit(1);
    }
    pause_ms(200);
    const double start = clock_seconds();
    ck_assert(lease_take(lease));
    ck_assert_double_lt(clock_seconds() - start, 0.5);
    ck_assert(lease_is_held(lease));
    lease_give(lease);
    ck_assert_int_eq(read(had[0], &byte, 1), 1);
    ck_assert_int_eq(waitpid(next, NULL, 0), next);
    close(had[0]);
    close(had[1]);
}
END_TEST

START_TEST(another_device_has_a_lease_of_its_own)
{
    struct lease *other = open_lease("GPU-01234567-89ab-cdef-0123-456789abcdef");
    ck_assert(lease_take(lease));
    ck_assert(lease_take(other));
    ck_assert(lease_is_alone(other));
    lease_close(other);
}
END_TEST

/* One process that always wants it again, and one that wants it once. */
START_TEST(who_gives_it_back_and_wants_it_again_comes_after_who_waits)
{
    const pid_t greedy = fork();
    if (greedy == 0) {
        struct lease *own = open_lease("host");
        for (;;)
            if (own && lease_take(own)) {
                pause_ms(50);
                lease_give(own);
            }
    }
    pause_ms(100);
    for (int i = 0; i < 5; i++) {
        const double start = clock_seconds();
        ck_assert(lease_take(lease));
        ck_assert_double_lt(clock_seconds() - start, 1);
        lease_give(lease);
    }
    end(greedy);
}
END_TEST

START_TEST(a_link_in_its_place_is_refused_with_a_reason)
{
    char path[128], target[128];
    struct stat status;
    snprintf(path, sizeof path, "%s/unseen-linked.lease", directory);
    snprintf(target, sizeof target, "%s/target", directory);
    ck_assert_int_eq(symlink(target, path), 0);
    ck_assert_ptr_null(open_lease("linked"));
    ck_assert_ptr_nonnull(strstr(why, "unseen-linked.lease"));
    ck_assert_int_ne(lstat(target, &status), 0);
    snprintf(path, sizeof path, "%s/unseen-folder.turn", directory);
    ck_assert_int_eq(mkdir(path, 0755), 0);
    ck_assert_ptr_null(open_lease("folder"));
}
END_TEST

START_TEST(every_user_can_take_part_whatever_the_umask)
{
    char path[128];
    struct stat status;
    const mode_t before = umask(0077);
    struct lease *other = open_lease("masked");
    umask(before);
    ck_assert_ptr_nonnull(other);
    snprintf(path, sizeof path, "%s/unseen-masked.lease", directory);
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_int_eq(status.st_mode & 0777, 0444);
    if (getuid() == 0) {
        int ended = -1;
        const pid_t stranger = fork();
        if (stranger == 0) {
            struct lease *own = setuid(65534) == 0 ? open_lease("masked") : NULL;
            _exit(own && lease_take(own) && !lease_is_alone(own) ? 0 : 1);
        }
        waitpid(stranger, &ended, 0);
        ck_assert_int_eq(ended, 0);
    } else {
        skip_test("only root can be another user, too");
    }
    lease_close(other);
}
END_TEST

START_TEST(a_file_that_was_removed_meanwhile_is_made_again)
{
    char path[128];
    snprintf(path, sizeof path, "%s/unseen-host.lease", directory);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert(lease_take(lease));
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_ne(flock(fd, LOCK_EX | LOCK_NB), 0);
    close(fd);
}
END_TEST

START_TEST(no_lease_at_all_keeps_nobody_and_knows_nothing)
{
    char kept[sizeof directory];
    strcpy(kept, directory);
    strcpy(directory, "/tmp/unseen-test-none/none");
    ck_assert_ptr_null(open_lease("host"));
    strcpy(directory, kept);
    ck_assert_ptr_nonnull(strstr(why, "No such file"));
    ck_assert(lease_take(NULL));
    ck_assert(!lease_is_alone(NULL));
    lease_give(NULL);
    lease_close(NULL);
}
END_TEST

TCase *lease_case(void)
{
    TCase *tests = tcase_create("lease");
    tcase_add_checked_fixture(tests, open_one, drop);
    tcase_add_test(tests, a_lease_is_had_given_back_and_had_again);
    tcase_add_test(tests, who_has_it_may_take_it_again_while_another_waits);
    tcase_add_test(tests, what_another_process_holds_is_waited_for_and_ends_with_it);
    tcase_add_test(tests, another_user_of_the_device_is_seen_and_its_end_too);
    tcase_add_test(tests, another_device_has_a_lease_of_its_own);
    tcase_add_test(tests, who_gives_it_back_and_wants_it_again_comes_after_who_waits);
    tcase_add_test(tests, a_link_in_its_place_is_refused_with_a_reason);
    tcase_add_test(tests, every_user_can_take_part_whatever_the_umask);
    tcase_add_test(tests, a_file_that_was_removed_meanwhile_is_made_again);
    tcase_add_test(tests, no_lease_at_all_keeps_nobody_and_knows_nothing);
    return tests;
}
