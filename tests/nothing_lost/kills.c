/* kill -9 at a random moment, of the judge, the runner, or the sandbox around it. */
#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lost.h"
#include "verify/util/clock.h"

enum { MANY = 200, SECONDS = 120 };
static const char part[] = "kills";

enum victim { JUDGE, RUNNER, SANDBOX, VICTIMS };
static const char *const name_of[VICTIMS] = {"unseen", "unseen-runner", "bwrap"};

static bool is_called(pid_t pid, const char *name)
{
    char path[64], comm[32] = "";
    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    FILE *file = fopen(path, "re");
    const bool read = file && fscanf(file, "%31[^\n]", comm) == 1;
    if (file)
        fclose(file);
    return read && strcmp(comm, name) == 0;
}

/* The process with that name, `pid` or below it, 0: none. */
static pid_t find_below(pid_t pid, const char *name)
{
    char path[64];
    int child;
    pid_t found = is_called(pid, name) ? pid : 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *threads = opendir(path);
    for (struct dirent *t; threads && !found && (t = readdir(threads));) {
        snprintf(path, sizeof path, "/proc/%d/task/%.20s/children", (int)pid, t->d_name);
        FILE *children = t->d_name[0] == '.' ? NULL : fopen(path, "re");
        while (children && !found && fscanf(children, "%d", &child) == 1)
            found = find_below(child, name);
        if (children)
            fclose(children);
    }
    if (threads)
        closedir(threads);
    return found;
}

/* Waits for the moment, then for the victim. False: the run ended before. */
static bool kill_one(pid_t tool, enum victim victim, double moment)
{
    poll(NULL, 0, (int)(1e3 * moment));
    const double start = clock_seconds();
    while (clock_seconds() - start < 2 && kill(tool, 0) == 0) {
        const pid_t pid = victim == JUDGE ? tool : find_below(tool, name_of[victim]);
        if (pid > 0)
            return kill(pid, SIGKILL) == 0;
        poll(NULL, 0, 1);
    }
    return false;
}

/* A killed runner must run again. Without its compiler there is nothing to run. */
static const char *judge(const struct lost_how *how, const struct lost_run *run, enum victim victim,
                         bool killed)
{
    if (victim == JUDGE && run->status == LOST_SIGNAL + SIGKILL)
        return lost_whole(how);
    if (killed && run->status == 3)
        return strstr(run->said, "killed") ? lost_whole(how) : "it does not say why";
    return lost_same(how, run);
}

static void run_again(const struct lost_how *how, long trial)
{
    int errors;
    const pid_t pid = lost_start(how, &errors);
    struct lost_run run = lost_wait(pid, errors, SECONDS);
    const char *wrong = lost_same(how, &run);
    if (!wrong)
        wrong = lost_no_process();
    if (!wrong)
        wrong = lost_no_file(true);
    if (wrong)
        lost_complain("kills: the run after", trial, &run, wrong);
    lost_forget(&run);
}

int lost_kills(long most)
{
    const long many = most > 0 ? most : MANY;
    const double whole = lost_undisturbed(LOST_RIGHT, true);
    long killed[VICTIMS] = {0}, missed = 0;
    for (long i = 0; i < many && whole > 0; i++) {
        const struct lost_how how = {.candidate = LOST_RIGHT, .source = true, .timing = most == 0 && i % 2};
        const enum victim victim = i % VICTIMS;
        const double moment = whole * 1e-4 * (double)(lost_random() % 10000);
        int errors;
        unlink("j.json");
        unlink("c.csv");
        const pid_t pid = lost_start(&how, &errors);
        const bool hit = kill_one(pid, victim, moment);
        struct lost_run run = lost_wait(pid, errors, SECONDS);
        const char *wrong = judge(&how, &run, victim, hit);
        if (!wrong)
            wrong = lost_no_process();
        killed[victim] += hit;
        missed += !hit;
        if (wrong) {
            printf("%s: %s %skilled after %.3f s:\n", part, name_of[victim], hit ? "" : "not ", moment);
            lost_complain(part, i, &run, wrong);
        }
        lost_forget(&run);
        run_again(&how, i);
    }
    printf("kills: %ld moments within %.2f s: %ld times the judge, %ld the runner, %ld the sandbox, %ld too "
           "late; %d "
           "complaints\n",
           many, whole, killed[JUDGE], killed[RUNNER], killed[SANDBOX], missed, lost_complaints());
    return lost_complaints();
}
