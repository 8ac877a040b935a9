#include "branch_report.h"

#include <stdio.h>
#include <string.h>

#include "prepare.h"
#include "verify/util/interrupt.h"

int branch_report_open(struct branch_coverage *coverage, struct task *task, const struct options *options)
{
    struct branch_limits limits = branch_limits(options->effort, false);
    *coverage = (struct branch_coverage){.present = false};
    const bool steers = task->options.directed > 0 && options->effort != EFFORT_REWARD;
    if (!steers && options->min_coverage == 0)
        return 0;
    limits.memory = options->memory;
    limits.steered = steers ? limits.steered : 0;
    if (branch_coverage_open(coverage, task, &limits) == 0)
        return 0;
    if (is_interrupted())
        return EXIT_INTERRUPTED;
    options_error("out of memory while counting the candidate's branches");
    return EXIT_ENVIRONMENT;
}

static void fill_never(struct result_branches *to, const struct branches *from)
{
    char line[BRANCH_TEXT_SIZE];
    for (int i = 0; i < from->count && to->nevers < RESULT_BRANCHES; i++) {
        const struct branch *const branch = &from->branch[i];
        struct result_branch *const one = &to->never[to->nevers];
        if (branch->taken)
            continue;
        source_line(&from->text[branch->file], branch->line, line, sizeof line);
        snprintf(one->file, sizeof one->file, "%.63s", from->text[branch->file].name);
        snprintf(one->text, sizeof one->text, "%.95s", line);
        branch_outcome(branch, one->outcome, sizeof one->outcome);
        one->line = branch->line;
        to->nevers++;
    }
}

/* Says why the exit status will be 1. */
static void note_lack(struct result *result, const struct options *options)
{
    const struct result_branches *const b = &result->branches;
    if (branch_report_suffices(options, result))
        return;
    if (b->present)
        result_note(result, "--min-coverage %d: %.1f%% of the branches were reached, so the status is 1",
                    options->min_coverage, 100.0 * b->taken / b->count);
    else
        result_note(result, "--min-coverage %d: there is no coverage, so the status is 1",
                    options->min_coverage);
}

void branch_report_fill(struct result *result, const struct branch_coverage *coverage,
                        const struct options *options)
{
    struct result_branches *const to = &result->branches;
    result->phase.cover = coverage->seconds;
    if (coverage->present) {
        to->present = true;
        to->taken = branches_taken(&coverage->branches);
        to->count = coverage->branches.count;
        to->called = coverage->called;
        to->configurations = coverage->configurations + coverage->steered;
        to->added = coverage->steered;
        to->seconds = coverage->seconds;
        snprintf(to->note, sizeof to->note, "%.399s", coverage->note);
        fill_never(to, &coverage->branches);
    } else if (coverage->note[0]) {
        result_detail(result, "%.300s", coverage->note);
    }
    note_lack(result, options);
}

bool branch_report_suffices(const struct options *options, const struct result *result)
{
    const struct result_branches *const b = &result->branches;
    return options->min_coverage == 0 ||
           (b->present && prepare_coverage_suffices(options, b->taken, b->count));
}
