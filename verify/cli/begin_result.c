#include "begin_result.h"

#include <stdio.h>
#include <string.h>

#include "reference/error.h"
#include "show.h"
#include "verify/problem/folder.h"
#include "verify/sandbox/resource_usage.h"
#include "verify/session/run.h"

static const char *const effort_name[] = {"quick", "standard", "deep", "reward"};

/* Without timing, nothing is measured. */
void begin_peaks(const struct task *task, struct peaks *peaks)
{
    const struct calibrated *const c = &task->ceilings;
    *peaks = (struct peaks){.bandwidth_gbps = device_gbps(&task->device),
                            .measured_gbps = task->device.measured.gbps,
                            .tflops = device_tflops(&task->device, task->problem),
                            .source = task->device.vendor.gbps > 0 ? PEAKS_VENDOR
                                      : c->present                 ? PEAKS_MEASURED
                                                                   : PEAKS_UNKNOWN,
                            .launch_ms = task->device.launch_ms,
                            .incomparable = c->present && !c->comparable};
    snprintf(peaks->calibrated, sizeof peaks->calibrated, "%s", c->calibration.date);
    snprintf(peaks->sha256, sizeof peaks->sha256, "%s", c->hash);
    snprintf(peaks->why, sizeof peaks->why, "%s", c->incomparable);
}

static struct result_coverage coverage_of(const struct coverage *c)
{
    return (struct result_coverage){.strength = c->strength,
                                    .covered = c->covered,
                                    .possible = c->possible,
                                    .excluded_by_caps = c->caps,
                                    .excluded_by_contract = c->contract};
}

/* Copies names, hashes and texts of the run, and what is known of the baseline. */
static void copy_identity(const struct task *task, const struct options *options, struct result *result)
{
    snprintf(result->candidate_path, sizeof result->candidate_path, "%s", options->argument[1]);
    memcpy(result->candidate_sha256, task->build.sha256, sizeof result->candidate_sha256);
    memcpy(result->device, task->device.name, sizeof result->device);
    memcpy(result->driver, task->device.driver, sizeof result->driver);
    memcpy(result->commitment, task->commitment, sizeof result->commitment);
    memcpy(result->directed_commitment, task->directed_commitment, sizeof result->directed_commitment);
    snprintf(result->notes, sizeof result->notes, "%.1000s", task->notes.text);
    snprintf(result->remarks, sizeof result->remarks, "%.*s",
             (int)(task->drawing_notes < 1000 ? task->drawing_notes : 1000), task->notes.text);
    snprintf(result->unseen_given, sizeof result->unseen_given, "%.500s",
             options->unseen_set ? options->unseen_set : "");
    snprintf(result->baseline.path, sizeof result->baseline.path, "%.500s", task->baseline_path);
    memcpy(result->baseline.sha256, task->baseline.sha256, sizeof task->baseline.sha256);
    result->baseline.own = task->baseline_own;
    result->own_tolerance.present = task->space.tolerance.given;
    result->own_tolerance.atol = task->space.tolerance.atol;
    result->own_tolerance.rtol = task->space.tolerance.rtol;
}

void begin_result(const struct task *task, const struct options *options, struct result *result)
{
    struct arithmetics arithmetics;
    const struct resource_usage bounds = resource_usage_default();
    error_arithmetics(task->problem, task->device.capability, &arithmetics);
    *result = (struct result){
        .version = UNSEEN_VERSION,
        .git = unseen_git,
        .problem = task->problem->name,
        .problem_word = folder_word(task->problem),
        .memory_bound = task->problem->peak == PEAK_MEMORY,
        .language = task->build.language,
        .build_seconds = task->build.seconds,
        .object_kept = task->build.kept,
        .seed = task->seed,
        .effort = options->unseen_set    ? "given"
                  : options->unseen >= 0 ? "custom"
                                         : effort_name[options->effort],
        .seen_stands_in = task->stands_in,
        .admitted = arithmetics.item[arithmetics.admitted].name,
        .published_tolerance = options->published,
        .limits = {.timeout = options->timeout,
                   .memory = options->memory > 0 ? options->memory : resource_usage_of_worker(options->jobs),
                   .tasks = bounds.tasks,
                   .budget = options->budget},
        .no_timing = !options->timing,
        .accept_limited = options->accept_limited,
        .planned = task->seen_set.count + task->unseen_set.count,
        .planned_seen = task->seen_set.count,
        .planned_scouts = drawn_scouts(&task->unseen_set),
        .planned_directed = drawn_directed(&task->unseen_set)};
    copy_identity(task, options, result);
    if (options->unseen_set)
        result_note(result,
                    "the unseen set came from %.300s and was not drawn: the candidate may have been prepared "
                    "for it",
                    options->unseen_set);
    show_run(result);
    show_kept_sizes(result, task);
    show_computed_inputs(result, task);
    run_say_sandbox(result);
    begin_peaks(task, &result->peaks);
    result->phase.build = task->build.seconds;
    result->phase.draw = task->draw_seconds;
    result->phase.open = task->open_seconds;
    result->list_pairs = coverage_of(&task->notes.lists.pairs);
    result->list_classes = coverage_of(&task->notes.lists.classes);
    result->coverage = coverage_of(&task->notes.coverage);
}
