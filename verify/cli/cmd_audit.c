/* unseen audit: finds what a task's published check accepts */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reports/record/atomic.h"
#include "verify/selftest/audit.h"
#include "prepare.h"
#include "outputs.h"
#include "trial_setup.h"
#include "verify/worker/child.h"
#include "verify/sandbox/child_table.h"
#include "verify/util/interrupt.h"

static bool passes(const struct audit_count *c)
{
    return c->configs > 0 && c->pass == c->configs;
}

static void show_progress(int done, int total)
{
    fprintf(stderr, "\r%d of %d configurations%s", done, total, done == total ? "\r\033[K" : "");
    fflush(stderr);
}

static void print_count(const struct audit_count *c)
{
    char text[48];
    snprintf(text, sizeof text, "%s  %d of %d", passes(c) ? "yes" : "no ", c->pass, c->configs);
    printf("  %-16s", text);
}

static int count_passing(const struct audit *audit, const struct audit_count *counts)
{
    int passing = 0;
    for (int kind = 0; kind < NULL_KINDS; kind++)
        passing += audit->applies[kind] && passes(&counts[kind]);
    return passing;
}

static int count_accepted(const struct audit *audit)
{
    int accepted = 0;
    for (int kind = 0; kind < NULL_KINDS; kind++)
        accepted += audit->ours[kind].pass > 0;
    return accepted;
}

static void print_table(const struct task *task, const struct audit *audit)
{
    printf("unseen audit %s on %s, seed %llu\n\n", task->problem->name, task->device.name,
           (unsigned long long)task->seed);
    printf("  %-38s  %-16s  %s\n", "null kernel", "passes published", "passes unseen");
    for (int kind = 0; kind < NULL_KINDS; kind++) {
        if (!audit->applies[kind])
            continue;
        printf("  %-38s", null_name(kind));
        print_count(&audit->published[kind]);
        print_count(&audit->ours[kind]);
        printf("\n");
    }
    printf("\npublished: atol %g, rtol %g on the %d seen configurations; unseen: the allowed error on these "
           "and %d more\n",
           task->problem->published_atol, task->problem->published_rtol, task->seen_set.count,
           task->unseen_set.count);
    printf("%d null kernels pass the published check at every seen shape, %d pass ours\n",
           count_passing(audit, audit->published), count_passing(audit, audit->ours));
    for (int kind = 0; kind < NULL_KINDS; kind++)
        if (audit->ours[kind].pass > 0)
            printf("  note: '%s' passes ours on %s\n", null_name(kind), audit->passed[kind]);
    if (audit->skipped)
        printf("  note: %d configurations had no room in memory\n", audit->skipped);
}

static json_t *count_json(const struct audit_count *c)
{
    return json_pack("{s:i, s:i, s:b}", "configs", c->configs, "pass", c->pass, "passes", passes(c));
}

static int write_json(const struct task *task, const struct audit *audit, bool partial, const char *path)
{
    char error[512];
    json_t *kinds = json_array();
    for (int kind = 0; kind < NULL_KINDS; kind++)
        if (audit->applies[kind])
            json_array_append_new(kinds, json_pack("{s:s, s:o, s:o, s:s*}", "name", null_name(kind),
                                                   "published", count_json(&audit->published[kind]), "unseen",
                                                   count_json(&audit->ours[kind]), "passes_on",
                                                   audit->ours[kind].pass > 0 ? audit->passed[kind] : NULL));
    json_t *root =
        json_pack("{s:i, s:{s:s, s:s}, s:s, s:{s:s}, s:I, s:f, s:f, s:i, s:i, s:i, s:f, s:b, s:o}", "schema",
                  1, "tool", "version", UNSEEN_VERSION, "git", unseen_git, "problem", task->problem->name,
                  "device", "name", task->device.name, "seed", (json_int_t)task->seed, "published_atol",
                  task->problem->published_atol, "published_rtol", task->problem->published_rtol,
                  "seen_configs", task->seen_set.count, "unseen_configs", task->unseen_set.count, "skipped",
                  audit->skipped, "seconds", audit->seconds, "partial", partial, "nulls", kinds);
    char *text = root ? json_dumps(root, JSON_INDENT(2)) : NULL;
    const int status = text ? atomic_write(path, text, strlen(text), error, sizeof error) : -1;
    if (status != 0)
        options_error("%s", text ? error : "out of memory");
    free(text);
    json_decref(root);
    return status == 0 ? 0 : EXIT_ENVIRONMENT;
}

static int run_kinds(const struct task *task, const struct options *options, struct audit *audit)
{
    char error[1024];
    const bool progress = isatty(STDERR_FILENO) && !options->quiet;
    const enum run_status status =
        audit_run(task, audit, progress ? show_progress : NULL, error, sizeof error);
    if (status == RUN_INTERRUPTED)
        return EXIT_INTERRUPTED;
    if (status == RUN_DONE)
        return 0;
    options_error("%s", error);
    return EXIT_ENVIRONMENT;
}

static int run_audit(const struct task *task, const struct options *options)
{
    struct audit *audit = calloc(1, sizeof *audit);
    if (!audit) {
        options_error("out of memory");
        return EXIT_ENVIRONMENT;
    }
    /* writes an empty file first: an unwritable path shows before minutes are spent */
    int status =
        options->report[REPORT_JSON] ? write_json(task, audit, true, options->report[REPORT_JSON]) : 0;
    if (status == 0)
        status = run_kinds(task, options, audit);
    if (status == 0 || status == EXIT_INTERRUPTED) { /* finished parts are kept */
        const int written = options->report[REPORT_JSON]
                                ? write_json(task, audit, status != 0, options->report[REPORT_JSON])
                                : 0;
        if (!options->quiet)
            print_table(task, audit);
        if (status == 0)
            status = written != 0 ? written : count_accepted(audit) > 0 ? EXIT_OTHER : EXIT_GENERAL;
    }
    free(audit);
    return status;
}

/* Each configuration is judged once per null kernel, whose outputs are made on the CPU. A few dozen of
 * moderate size show as much as hundreds with gigabytes. */
static const double most_bytes = 256e6;

int command_audit(const struct options *given)
{
    struct options copy = *given;
    const struct options *const options = &copy;
    const struct problem *problem;
    struct task task;
    catch_signals(child_stop_all);
    int status = outputs_check(options);
    if (!options->effort_given)
        copy.effort = EFFORT_QUICK;
    if (status == 0)
        status = options_problem(options->argument[0], &problem);
    if (status == 0 && problem->task)
        return audit_imported(options, problem);
    if (status == 0)
        status = prepare_task(&task, options);
    if (status != 0)
        return status;
    if (task.caps.bytes > most_bytes)
        task.caps.bytes = most_bytes;
    status = prepare_step(&task, task_judge(&task));
    if (status == 0)
        status = prepare_step(&task, task_draw(&task));
    if (status == 0)
        status = run_audit(&task, options);
    return prepare_end(&task, status);
}
