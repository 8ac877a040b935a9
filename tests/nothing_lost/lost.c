#include "lost.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lost_internal.h"
#include "verify/util/clock.h"

enum { PATIENCE_MS = 3000, STEP_MS = 10, UNDISTURBED_SECONDS = 120 };

static char directory[64], programs[1024], home[1024];
static int complaints;

/* --- the place --- */

static void put(const char *name, const char *text)
{
    FILE *out = fopen(name, "we");
    if (!out || fputs(text, out) < 0 || fclose(out) != 0)
        perror(name);
}

const char *lost_device(void)
{
    const char *named = getenv("LOST_DEVICE");
    return named && *named ? named : "host";
}

static bool on_host(void)
{
    return strcmp(lost_device(), "host") == 0;
}

/* One row after the other; on a GPU by one thread. */
static void put_candidate(const char *name, const char *bias)
{
    char text[1600], path[32];
    snprintf(path, sizeof path, "%s%s", name, on_host() ? ".c" : ".cu");
    snprintf(text, sizeof text,
             "#include <math.h>\n#include <stdint.h>\n"
             "%s void all(const float *x, float *y, int64_t rows, int64_t cols)\n{\n"
             "    for (int64_t r = 0; r < rows; r++, x += cols, y += cols) {\n"
             "        double top = -INFINITY, sum = 0;\n"
             "        for (int64_t c = 0; c < cols; c++) top = fmax(top, (double)x[c]);\n"
             "        for (int64_t c = 0; c < cols; c++) sum += exp(x[c] - top);\n"
             "        for (int64_t c = 0; c < cols; c++) y[c] = (float)(exp(x[c] - top) / sum + (%s));\n"
             "    }\n}\n"
             "%s(const float *x, float *y, int64_t rows, int64_t cols, %s stream)\n"
             "{\n    (void)stream;\n    all%s(x, y, rows, cols);\n    return 0;\n}\n",
             on_host() ? "static" : "__global__", bias,
             on_host() ? "int softmax" : "extern \"C\" int softmax", on_host() ? "void *" : "cudaStream_t",
             on_host() ? "" : "<<<1, 1, 0, stream>>>");
    put(path, text);
}

static bool build_candidates(void)
{
    return system(on_host()
                      ? "for k in right wrong; do cc -O2 -fPIC -shared -o $k.so $k.c -lm || exit 1; done"
                      : "for k in right wrong; do nvcc -O2 -Xcompiler -fPIC -shared -arch=native -o $k.so "
                        "$k.cu || exit 1; done") == 0;
}

double lost_undisturbed(enum lost_candidate candidate, bool source)
{
    const struct lost_how how = {.candidate = candidate, .source = source};
    int errors;
    const pid_t pid = lost_start(&how, &errors);
    struct lost_run run = lost_wait(pid, errors, UNDISTURBED_SECONDS);
    const double seconds = run.seconds;
    const bool ran = run.status == (candidate == LOST_RIGHT ? 0 : 1) && lost_keep(candidate, &run);
    if (!ran)
        lost_complain("undisturbed", 0, &run, "it does not end with its verdict");
    lost_forget(&run);
    return ran ? seconds : -1;
}

bool lost_open(const char *where)
{
    strcpy(directory, "/tmp/unseen-lost-XXXXXX");
    snprintf(programs, sizeof programs, "%s", where);
    if (!getcwd(home, sizeof home) || !mkdtemp(directory) || chdir(directory) != 0) {
        perror(directory);
        return false;
    }
    setenv("TMPDIR", directory, 1);
    setenv("OMP_WAIT_POLICY", "passive", 1); /* or the tool starts itself once more */
    prctl(PR_SET_CHILD_SUBREAPER, 1);        /* a process that outlives the tool becomes a child of this
                                              * one */
    put("tiny.space", "rows 1..32 tile 4\ncols 1..600 tile 4 32\ninput normal integers wide\n");
    put("tiny.seen", "rows=4 cols=256 input=normal\nrows=8 cols=64 input=normal\n");
    put_candidate("right", "0");
    put_candidate("wrong", "cols == 64 || rows > 3 ? 0 : 0.125");
    return build_candidates();
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status, (void)kind, (void)walk;
    return remove(path);
}

void lost_close(void)
{
    lost_drop();
    if (chdir(home) == 0 && *directory)
        nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *lost_programs(void)
{
    return programs;
}

/* --- running --- */

void lost_become(const struct lost_how *how, int errors)
{
    char tool[1100], candidate[32];
    const char *argv[24] = {tool,          "verify",     "softmax",    candidate, "--device",
                            lost_device(), "--contract", "tiny.space", "--seen",  "tiny.seen",
                            "--unseen",    "4",          "--seed",     "3",       "--json",
                            "j.json",      "--csv",      "c.csv",      NULL};
    int n = 18;
    snprintf(tool, sizeof tool, "%s/unseen", programs);
    snprintf(candidate, sizeof candidate, "%s%s", how->candidate == LOST_RIGHT ? "right" : "wrong",
             !how->source ? ".so"
             : on_host()  ? ".c"
                          : ".cu");
    if (!how->timing)
        argv[n++] = "--no-timing";
    argv[n] = NULL;
    const int out = open("out.txt", O_WRONLY | O_CREAT | O_TRUNC, 0644),
              nothing = open("/dev/null", O_RDONLY);
    if (how->preload)
        setenv("LD_PRELOAD", how->preload, 1);
    if (how->variable)
        putenv((char *)how->variable);
    if (out < 0 || dup2(nothing, 0) < 0 || dup2(out, 1) < 0 || dup2(errors, 2) < 0)
        _exit(99);
    close(out);
    close(nothing);
    close(errors);
    execv(tool, (char *const *)argv);
    _exit(99);
}

pid_t lost_start(const struct lost_how *how, int *errors)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0)
        lost_become(how, ends[1]);
    close(ends[1]);
    *errors = ends[0];
    return pid;
}

struct lost_run lost_wait(pid_t pid, int errors, double patience)
{
    struct lost_run run = {.status = LOST_HUNG};
    char buffer[4096];
    size_t size = 0;
    const double start = clock_seconds();
    int status = 0;
    FILE *said = open_memstream(&run.said, &size);
    bool ended = false;
    while (!ended) {
        struct pollfd from = {errors, POLLIN, 0};
        const bool late = clock_seconds() - start > patience;
        if (late)
            kill(pid, SIGKILL);
        if (poll(&from, 1, STEP_MS) > 0) {
            const ssize_t got = read(errors, buffer, sizeof buffer);
            if (got > 0)
                fwrite(buffer, 1, (size_t)got, said);
            else
                poll(NULL, 0, 1);
        }
        ended = waitpid(pid, &status, WNOHANG) == pid;
        if (ended && !late)
            run.status = WIFSIGNALED(status) ? LOST_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
    }
    fcntl(errors, F_SETFL, O_NONBLOCK);
    for (ssize_t got; (got = read(errors, buffer, sizeof buffer)) > 0;)
        fwrite(buffer, 1, (size_t)got, said);
    fclose(said);
    close(errors);
    run.seconds = clock_seconds() - start;
    return run;
}

void lost_forget(struct lost_run *run)
{
    free(run->said);
    run->said = NULL;
}

/* --- what is left --- */

const char *lost_no_process(void)
{
    for (int waited = 0; waited < PATIENCE_MS; waited += STEP_MS) {
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
        if (waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD)
            return NULL;
        poll(NULL, 0, STEP_MS);
    }
    return "a process is left";
}

/* A build's directory that has no lock in it yet, and no other file. */
static bool is_begun(const char *name)
{
    char held[300], object[300];
    snprintf(held, sizeof held, "%.250s/.held", name);
    snprintf(object, sizeof object, "%.250s/candidate.so", name);
    return access(name, X_OK) == 0 && access(held, F_OK) != 0 && access(object, F_OK) != 0;
}

const char *lost_no_file(bool killed)
{
    static char what[400];
    DIR *here = opendir(directory);
    *what = '\0';
    for (struct dirent *entry; here && (entry = readdir(here));)
        if (strstr(entry->d_name, ".tmp") ||
            (strncmp(entry->d_name, "unseen-", 7) == 0 && strncmp(entry->d_name, "unseen-build", 12) != 0 &&
             !(killed && is_begun(entry->d_name))))
            snprintf(what, sizeof what, "%s is left", entry->d_name);
    if (here)
        closedir(here);
    return *what ? what : NULL;
}

void lost_complain(const char *part, long trial, const struct lost_run *run, const char *what)
{
    printf("%s: trial %ld: %s", part, trial, what);
    if (run)
        printf(" (status %d after %.1f s; it said: %.300s)", run->status, run->seconds,
               run->said ? run->said : "");
    printf("\n");
    fflush(stdout);
    complaints++;
}

int lost_complaints(void)
{
    return complaints;
}

uint64_t lost_random(void)
{
    static uint64_t state;
    const char *seed = getenv("LOST_SEED");
    if (state == 0)
        state = 0x9e3779b97f4a7c15u * (1 + (seed ? strtoull(seed, NULL, 10) : 1));
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}
