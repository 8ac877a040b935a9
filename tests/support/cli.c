#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 3000, STEP_MS = 10 };

struct cli cli;

static char root[1024], tool[1200], directory[64];

static void find_tool(void)
{
    char self[1024];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    ck_assert(length > 0);
    self[length] = '\0';
    snprintf(tool, sizeof tool, "%s/unseen", dirname(self));
    ck_assert_msg(access(tool, X_OK) == 0, "there is no %s: build it first", tool);
}

void cli_setup(void)
{
    ck_assert(getcwd(root, sizeof root) != NULL);
    find_tool();
    strcpy(directory, "/tmp/unseen-cli-XXXXXX");
    ck_assert(mkdtemp(directory) != NULL);
    ck_assert_int_eq(chdir(directory), 0);
    setenv("TMPDIR", directory, 1);
    setenv("COLUMNS", "200", 1); /* sentences in one piece, as tests look for them */
    /* A process that outlives the tool becomes a child of this one, where it is seen. */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    cli_put("tiny.space", "rows 1..32 tile 4\ncols 1..600 tile 4 32\ninput normal integers wide\n");
    cli_put("tiny.seen", "rows=4 cols=256 input=normal\nrows=8 cols=64 input=normal\n");
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status, (void)kind, (void)walk;
    return remove(path);
}

void cli_teardown(void)
{
    free(cli.out);
    free(cli.err);
    memset(&cli, 0, sizeof cli);
    ck_assert_int_eq(chdir(root), 0);
    nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *cli_tool(void)
{
    return tool;
}

const char *cli_repository(const char *path)
{
    static char whole[4][1400];
    static int next;
    char *out = whole[next++ % 4];
    snprintf(out, sizeof whole[0], "%s/%s", root, path);
    return out;
}

static char *read_all(const char *path)
{
    size_t size = 0;
    char *text = NULL, buffer[4096];
    FILE *in = fopen(path, "re"), *out = open_memstream(&text, &size);
    ck_assert(out != NULL);
    for (size_t got; in && (got = fread(buffer, 1, sizeof buffer, in)) > 0;)
        fwrite(buffer, 1, got, out);
    if (in)
        fclose(in);
    fclose(out);
    return text;
}

static void redirect(const char *path, int to)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd < 0 || dup2(fd, to) < 0)
        _exit(99);
    close(fd);
}

static void become(const char *const *words)
{
    const char *argv[64] = {"unseen"}; /* as where PATH finds it: reports print this name */
    for (int i = 0; words[i] && i < 62; i++)
        argv[i + 1] = words[i];
    redirect(cli.stdout_to ? cli.stdout_to : "out.txt", STDOUT_FILENO);
    redirect("err.txt", STDERR_FILENO);
    if (cli.file_limit > 0) {
        const struct rlimit limit = {(rlim_t)cli.file_limit, RLIM_INFINITY};
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    execv(tool, (char *const *)argv);
    _exit(99);
}

pid_t cli_start(const char *const *words)
{
    const pid_t pid = fork();
    ck_assert(pid >= 0);
    if (pid == 0)
        become(words);
    return pid;
}

void cli_wait(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0)
        ck_assert_int_eq(errno, EINTR);
    free(cli.out);
    free(cli.err);
    cli.out = read_all("out.txt");
    cli.err = read_all("err.txt");
    cli.status = WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
    cli.stdout_to = NULL;
    cli.file_limit = 0;
}

void cli_run(const char *const *words)
{
    unlink("out.txt");
    cli_wait(cli_start(words));
}

bool cli_printed(const char *text)
{
    char *out = read_all("out.txt");
    const bool found = strstr(out, text) != NULL;
    free(out);
    return found;
}

/* --- expectations --- */

static void expect_part(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part) != NULL, "'%s' is missing in:\n%.3000s", part,
                  text); /* Check takes 4096 characters */
}

void cli_expect_error(int status, const char *found, const char *expected, const char *hint)
{
    ck_assert_msg(cli.status == status, "exit status %d instead of %d; it said:\n%s%s", cli.status, status,
                  cli.out, cli.err);
    expect_part(cli.err, found);
    expect_part(cli.err, expected);
    const char *const arrow = strstr(cli.err, "\n---> ");
    ck_assert_msg(arrow != NULL, "no hint in:\n%s", cli.err);
    expect_part(arrow, hint);
}

void cli_expect(int status, const char *in_out)
{
    ck_assert_msg(cli.status == status, "exit status %d instead of %d; it said:\n%s%s", cli.status, status,
                  cli.out, cli.err);
    expect_part(cli.out, in_out);
}

void cli_expect_without(const char *text)
{
    ck_assert_msg(!strstr(cli.out, text) && !strstr(cli.err, text), "'%s' is in:\n%s%s", text, cli.out,
                  cli.err);
}

/* --- files --- */

const char *cli_torch(void)
{
    const char *const given = getenv("UNSEEN_TEST_PYTHON");
    const char *const path = given ? given : cli_repository("build/venv/bin/python");
    return access(path, X_OK) == 0 ? path : NULL;
}

char *cli_text(const char *path)
{
    static char text[1 << 16];
    FILE *file = fopen(path, "re");
    ck_assert_msg(file != NULL, "%s", path);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

void cli_put(const char *name, const char *text)
{
    FILE *out = fopen(name, "we");
    ck_assert_msg(out != NULL, "%s: %s", name, strerror(errno));
    fputs(text, out);
    ck_assert_int_eq(fclose(out), 0);
}

void cli_put_kernel(const char *name, const char *hook, const char *bias)
{
    char text[2000];
    snprintf(text, sizeof text,
             "#include <math.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
             "#include <unistd.h>\n"
             "int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)\n{\n"
             "    (void)stream;\n    %s\n"
             "    for (int64_t r = 0; r < rows; r++, x += cols, y += cols) {\n"
             "        double top = -INFINITY, sum = 0;\n"
             "        for (int64_t c = 0; c < cols; c++) top = fmax(top, x[c]);\n"
             "        for (int64_t c = 0; c < cols; c++) sum += exp(x[c] - top);\n"
             "        for (int64_t c = 0; c < cols; c++) y[c] = exp(x[c] - top) / sum + (%s);\n"
             "    }\n    return 0;\n}\n",
             hook, bias);
    cli_put(name, text);
}

json_t *cli_json(const char *path)
{
    json_error_t error;
    json_t *result = json_load_file(path, 0, &error);
    ck_assert_msg(result != NULL, "%s:%d: %s", path, error.line, error.text);
    return result;
}

int cli_count(const json_t *result, const char *set, const char *key)
{
    const json_t *value = json_object_get(json_object_get(result, set), key);
    ck_assert_msg(json_is_integer(value), "no number %s.%s", set, key);
    return (int)json_integer_value(value);
}

/* A killed process needs a moment to go. */
bool cli_has_children(void)
{
    const struct timespec step = {0, STEP_MS * 1000000L};
    for (int waited = 0; waited < PATIENCE_MS; waited += STEP_MS) {
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
        if (waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD)
            return false;
        nanosleep(&step, NULL);
    }
    return true;
}
