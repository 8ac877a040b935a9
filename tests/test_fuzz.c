/* The inputs that fuzzing stored (tests/fuzz/corpus), each once more through the function that it was found
 * with. */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz/requests.h"
#include "skip.h"
#include "suites.h"

/* --- the runner's side: the runner itself --- */

enum { PATIENCE_MS = 10000 };

static pid_t start_runner(int channel)
{
    char self[1024], path[1100];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    ck_assert(length > 0);
    self[length] = '\0';
    snprintf(path, sizeof path, "%s/unseen-runner", dirname(self));
    const pid_t pid = fork();
    ck_assert(pid >= 0);
    if (pid == 0) {
        const int nowhere = open("/dev/null", O_RDWR);
        if (nowhere < 0 || dup2(nowhere, 1) < 0 || dup2(nowhere, 2) < 0 || dup2(channel, CHANNEL_FD) < 0)
            _exit(99);
        execl(path, path, (char *)NULL);
        _exit(99);
    }
    return pid;
}

/* False: it has ended. */
static bool take_answer(int channel)
{
    struct reply reply;
    struct pollfd from = {channel, POLLIN, 0};
    ck_assert_msg(poll(&from, 1, PATIENCE_MS) == 1, "no answer");
    const ssize_t got = recv(channel, &reply, sizeof reply, 0);
    ck_assert(got <= 0 || (got == sizeof reply && reply.magic == CHANNEL_MAGIC));
    return got > 0;
}

/* It answers any request or ends, and no signal ends it. */
static int fuzz_requests(const uint8_t *data, size_t size)
{
    int channel[2], status = 0;
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel), 0);
    const pid_t pid = start_runner(channel[1]);
    close(channel[1]);
    bool lives = take_answer(channel[0]);
    ck_assert_msg(lives, "the runner does not start");
    while (size > 0 && lives && requests_send(channel[0], &data, &size))
        lives = take_answer(channel[0]);
    close(channel[0]);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) <= 1, "wait status %#x", status);
    return 0;
}

/* --- all others, in this process --- */

#define TARGET(name) int fuzz_##name(const uint8_t *data, size_t size);
#include "fuzz/targets.def"
#undef TARGET

static const struct {
    const char *name;
    int (*run)(const uint8_t *data, size_t size);
} targets[] = {
#define TARGET(name) {#name, fuzz_##name},
#include "fuzz/targets.def"
#undef TARGET
    {"requests", fuzz_requests},
};
enum { TARGETS = sizeof targets / sizeof *targets, MOST = 1 << 16 };

START_TEST(what_fuzzing_kept_breaks_nothing)
{
#ifdef SANITIZED
    if (strcmp(targets[_i].name, "options") == 0)
        SKIP_TEST("a usage error leaves argp with memory in hand");
#endif
    static uint8_t data[MOST];
    char folder[256], path[600];
    int files = 0;
    snprintf(folder, sizeof folder, "tests/fuzz/corpus/%s", targets[_i].name);
    DIR *directory = opendir(folder);
    ck_assert_msg(directory != NULL, "%s: %s", folder, strerror(errno));
    for (struct dirent *entry; (entry = readdir(directory));) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        FILE *file = fopen(path, "re");
        ck_assert_msg(file != NULL, "%s", path);
        const size_t size = fread(data, 1, sizeof data, file);
        fclose(file);
        ck_assert_msg(size < sizeof data, "%s is too large", path);
        targets[_i].run(data, size);
        files++;
    }
    closedir(directory);
    ck_assert_msg(files > 0, "%s is empty", folder);
}
END_TEST

Suite *fuzz_suite(void)
{
    Suite *suite = suite_create("fuzz");
    TCase *tests = tcase_create("corpus");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, what_fuzzing_kept_breaks_nothing, 0, TARGETS);
    suite_add_tcase(suite, tests);
    return suite;
}
