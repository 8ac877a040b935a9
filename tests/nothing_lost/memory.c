/* Memory is out: the n-th allocation of the judge fails and, in every second trial, all after it
 * (memory_shim.c). It tries the first FIRST allocations, and SAMPLED of the rest, spread over the run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "lost.h"

/* The limit is long: a configuration that is short of memory waits until no other unseen runs on this
 * machine. */
enum { FIRST = 300, SAMPLED = 500, SECONDS = 600 };
static const char part[] = "memory";
static char shim[1100];

static struct lost_run run_at(struct lost_how how, long at, bool onward)
{
    char variable[64];
    int errors;
    snprintf(variable, sizeof variable, "LOST_AT=%ld", at);
    how.preload = shim;
    how.variable = variable;
    if (onward)
        setenv("LOST_ONWARD", "1", 1);
    else
        unsetenv("LOST_ONWARD");
    unlink("j.json");
    unlink("c.csv");
    const pid_t pid = lost_start(&how, &errors);
    return lost_wait(pid, errors, SECONDS);
}

static bool names_memory(const char *said)
{
    return strcasestr(said, "memory") != NULL;
}

/* A configuration without enough memory is left out and counts as skipped. The verdict is then inconclusive,
 * or that of the others. */
static const char *judge(const struct lost_how *how, const struct lost_run *run)
{
    if (run->status == 3)
        return names_memory(run->said) ? lost_whole(how) : "it does not say that memory is out";
    return lost_same(how, run);
}

static long count(const struct lost_how *how)
{
    long number = 0;
    setenv("LOST_COUNT", "count.txt", 1);
    struct lost_run run = run_at(*how, 0, false);
    unsetenv("LOST_COUNT");
    const char *wrong = lost_same(how, &run);
    if (wrong)
        lost_complain(part, 0, &run, wrong);
    lost_forget(&run);
    FILE *file = fopen("count.txt", "re");
    if (!file || fscanf(file, "%ld", &number) != 1)
        lost_complain(part, 0, NULL, "the allocations were not counted");
    if (file)
        fclose(file);
    return number;
}

static void try_one(const struct lost_how *how, long at, bool onward, long *told)
{
    struct lost_run run = run_at(*how, at, onward);
    const char *wrong = run.status == LOST_HUNG ? "it hangs" : judge(how, &run);
    if (!wrong)
        wrong = lost_no_process();
    *told += run.status == 3;
    if (wrong) {
        printf("%s: %s candidate, allocation %ld%s:\n", part,
               how->candidate == LOST_RIGHT ? "right" : "wrong", at, onward ? " and all after it" : "");
        lost_complain(part, at, &run, wrong);
    }
    lost_forget(&run);
}

int lost_memory(long most)
{
    long all[LOST_CANDIDATES] = {0}, told = 0;
    const long trials = most > 0 ? most : FIRST + SAMPLED;
    const int candidates = most > 0 ? 1 : LOST_CANDIDATES;
    snprintf(shim, sizeof shim, "%s/nothing-lost-memory.so", lost_programs());
    for (int c = 0; c < candidates; c++) {
        const struct lost_how how = {.candidate = c};
        all[c] = lost_undisturbed(c, false) < 0 ? 0 : count(&how);
        if (all[c] == 0)
            return lost_complaints();
    }
    for (long i = 0; i < trials; i++) {
        const struct lost_how how = {.candidate = i % candidates};
        const uint64_t number = (uint64_t)all[how.candidate];
        const bool first = most == 0 && i < FIRST;
        try_one(&how, first ? i + 1 : 1 + (long)(lost_random() % number), i / 2 % 2, &told);
    }
    const struct lost_how right = {.candidate = LOST_RIGHT};
    try_one(&right, 0, false, &told); /* the next run removes the leftovers, as after a kill */
    if (lost_no_file(false))
        lost_complain(part, trials, NULL, lost_no_file(false));
    printf(
        "memory: %ld and %ld allocations of a right and of a wrong candidate's run; %ld trials, %ld of them "
        "ended with status 3, the others with the verdict; %d complaints\n",
        all[LOST_RIGHT], all[LOST_WRONG], trials, told, lost_complaints());
    return lost_complaints();
}
