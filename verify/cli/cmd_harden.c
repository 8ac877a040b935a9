/* unseen harden: finds shapes and tolerances that make a task's check meaningful */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "reports/record/text.h"
#include "trial_setup.h"
#include "verify/export/harden.h"

/* Number of drawn configurations; directed ones are added. */
static int drawn_for(enum effort effort)
{
    return effort == EFFORT_QUICK ? 40 : effort == EFFORT_STANDARD ? 100 : 400;
}

static int check_out(const char *out)
{
    struct stat status;
    if (!out) {
        options_error("found no --out; the folder to be made was expected\n---> for example --out hardened");
        return EXIT_USAGE;
    }
    if (lstat(out, &status) != 0 && errno == ENOENT)
        return 0;
    options_error(
        "%s is there already; a folder to be made was expected\n---> remove it, or choose another place with "
        "--out",
        out);
    return EXIT_USAGE;
}

static void print_counts(const char *what, const struct harden_counts *c)
{
    printf("  %-16s %4d %7d %12d %14d %9d\n", what, c->all, c->shown, c->published, c->ours, c->list);
}

static void print_summary(const struct hardened *h, const char *out)
{
    const struct harden_counts nulls = harden_count(h, true), faults = harden_count(h, false);
    printf("unseen harden %s on %s, seed %llu\n\n  %-16s %4s %7s %12s %14s %9s\n", h->name, h->device,
           (unsigned long long)h->seed, "wrong outputs", "all", "shown", "old check", "allowed error",
           "new list");
    print_counts("null outputs", &nulls);
    print_counts("planted faults", &faults);
    printf("\nnumbers are wrong outputs told from the right one: by the task's own check and by the allowed "
           "error at the "
           "published shape, and by %d shapes with their tolerances\nwrote ",
           h->count);
    text_shell(stdout, out);
    printf("; HARDEN.md says what each shape is for\n");
}

static int write_all(const struct task *task, const struct trial *trial, const struct options *options)
{
    char text[4600];
    struct hardened hardened = {.name = task->problem->name, .seed = task->seed, .device = task->device.name};
    if (harden_choose(&hardened, trial) != 0) {
        options_error("out of memory");
        return EXIT_ENVIRONMENT;
    }
    if (hardened.count == 0) {
        options_error("no configuration of %d tells any wrong output from the right one%s%s; a task whose "
                      "answer can be told was "
                      "expected\n---> see `unseen describe`: the contract may be too narrow",
                      trial->drawn.count, trial->drawn.count && trial->drawn.item[0].dropped ? ": " : "",
                      trial->drawn.count && trial->drawn.item[0].dropped ? trial->drawn.item[0].dropped : "");
        return EXIT_USAGE;
    }
    if (harden_write(&hardened, options->out, text, sizeof text) != 0) {
        options_error("%s", text);
        return EXIT_ENVIRONMENT;
    }
    if (!options->quiet)
        print_summary(&hardened, options->out);
    return EXIT_GENERAL;
}

int command_harden(const struct options *given)
{
    struct options options = *given;
    const struct problem *problem;
    struct task task;
    struct trial trial;
    signal(SIGXFSZ, SIG_IGN); /* writing beyond a file size limit becomes an error with a message */
    if (options.unseen < 0)
        options.unseen = drawn_for(options.effort);
    int status = check_out(options.out);
    if (status == 0)
        status = options_problem(options.argument[0], &problem);
    if (status == 0)
        status = trial_setup_suits("harden", problem);
    if (status == 0)
        status = trial_setup_begin(&task, &trial, &options, true);
    if (status != 0)
        return status;
    status = write_all(&task, &trial, &options);
    trial_clear(&trial);
    return prepare_end(&task, status);
}
