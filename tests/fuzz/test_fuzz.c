/* The inputs that fuzzing stored (tests/corpora/fuzz), each once more through the function that it was found
 * with. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "requests.h"
#include "cli.h"
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
#include "targets.def"
#undef TARGET

static const struct {
    const char *name;
    int (*run)(const uint8_t *data, size_t size);
} targets[] = {
#define TARGET(name) {#name, fuzz_##name},
#include "targets.def"
#undef TARGET
    {"requests", fuzz_requests},
};
enum { TARGETS = sizeof targets / sizeof *targets };

/* One byte of a line as corpus.py writes it, and the text after it. */
static uint8_t read_byte(const char **text, const char *place)
{
    const char *at = *text;
    *text = at + 1;
    if (*at != '\\')
        return (uint8_t)*at;
    *text = at + 2;
    switch (at[1]) {
    case '\\': return '\\';
    case 'n': return '\n';
    case 't': return '\t';
    case 'x': break;
    default: ck_abort_msg("%s: found '\\%c', expected \\\\, \\n, \\t or \\xHH", place, at[1]);
    }
    const char digits[] = {at[2], at[2] ? at[3] : '\0', '\0'};
    char *end;
    const unsigned long byte = strtoul(digits, &end, 16);
    ck_assert_msg(end == digits + 2, "%s: found '\\x%s', expected two digits", place, digits);
    *text = at + 4;
    return (uint8_t)byte;
}

/* The bytes of a line, in memory of exactly their size. */
static uint8_t *read_input(const char *line, size_t *size, const char *place)
{
    const char *text = strchr(line, ' ');
    ck_assert_msg(text && text != line, "%s: found no name and space", place);
    uint8_t *data = malloc(strlen(text));
    ck_assert_ptr_nonnull(data);
    *size = 0;
    for (text++; *text && *text != '\n';)
        data[(*size)++] = read_byte(&text, place);
    return *size ? realloc(data, *size) : data;
}

START_TEST(what_fuzzing_kept_breaks_nothing)
{
#ifdef SANITIZED
    if (strcmp(targets[_i].name, "options") == 0)
        SKIP_TEST("a usage error leaves argp with memory in hand");
#endif
    char path[256], place[300], *line = NULL;
    size_t space = 0, size;
    int inputs = 0;
    snprintf(path, sizeof path, "tests/corpora/fuzz/%s.txt", targets[_i].name);
    FILE *file = fopen(path, "re");
    ck_assert_msg(file != NULL, "%s: %s", path, strerror(errno));
    while (getline(&line, &space, file) > 0) {
        snprintf(place, sizeof place, "%s:%d", path, ++inputs);
        uint8_t *data = read_input(line, &size, place);
        targets[_i].run(data, size);
        free(data);
    }
    free(line);
    fclose(file);
    ck_assert_msg(inputs > 0, "%s is empty", path);
}
END_TEST

/* Unpacked inputs have the bytes that the C reader finds, and packing them gives the same text. */
START_TEST(the_script_unpacks_the_bytes_that_are_replayed)
{
    char command[1600], *line = NULL;
    size_t space = 0, size;
    if (system("command -v python3 >/dev/null") != 0)
        SKIP_TEST("there is no python3");
    snprintf(
        command, sizeof command,
        "mkdir out && python3 '%s' unpack '%s' out && python3 '%s' pack out again.txt && cmp again.txt '%s'",
        cli_repository("tests/fuzz/corpus.py"), cli_repository("tests/corpora/fuzz/object.txt"),
        cli_repository("tests/fuzz/corpus.py"), cli_repository("tests/corpora/fuzz/object.txt"));
    ck_assert_int_eq(system(command), 0);
    FILE *file = fopen("again.txt", "re");
    ck_assert_ptr_nonnull(file);
    while (getline(&line, &space, file) > 0) {
        char path[300];
        uint8_t *data = read_input(line, &size, "again.txt"), *unpacked = malloc(size + 1);
        snprintf(path, sizeof path, "out/%.*s", (int)strcspn(line, " "), line);
        FILE *in = fopen(path, "re");
        ck_assert_ptr_nonnull(in);
        ck_assert_uint_eq(fread(unpacked, 1, size + 1, in), size);
        ck_assert_mem_eq(unpacked, data, size);
        fclose(in);
        free(unpacked);
        free(data);
    }
    free(line);
    fclose(file);
}
END_TEST

Suite *fuzz_suite(void)
{
    Suite *suite = suite_create("fuzz");
    TCase *tests = tcase_create("corpus");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, what_fuzzing_kept_breaks_nothing, 0, TARGETS);
    suite_add_tcase(suite, tests);
    TCase *script = tcase_create("script");
    tcase_add_checked_fixture(script, cli_setup, cli_teardown);
    tcase_add_test(script, the_script_unpacks_the_bytes_that_are_replayed);
    suite_add_tcase(suite, script);
    return suite;
}
