/* unseen selftest: tests a problem's definition */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "outputs.h"
#include "reports/record/atomic.h"
#include "verify/worker/child.h"
#include "verify/sandbox/child_table.h"
#include "verify/problem/folder.h"
#include "verify/selftest/prove.h"
#include "verify/util/interrupt.h"
#include "prepare.h"
#include "options.h"

/* A fixed seed, so that the same definition always gives the same answer. */
enum { SEED_DEFAULT = 1 };

static void show_progress(const char *part, int done, int total)
{
    fprintf(stderr, "\r\033[K%s", part);
    if (total)
        fprintf(stderr, ": %d of %d", done, total);
    fflush(stderr);
}

static int write_json(const struct options *options, const struct prove_options *asked,
                      const struct prove_report *report, bool partial)
{
    char error[512] = "out of memory";
    char *text = prove_json(asked, report, partial, UNSEEN_VERSION, unseen_git);
    const int status =
        text ? atomic_write(options->report[REPORT_JSON], text, strlen(text), error, sizeof error) : -1;
    free(text);
    if (status != 0)
        options_error("%s", error);
    return status == 0 ? 0 : EXIT_ENVIRONMENT;
}

static int conclude(enum prove_status status, const struct options *options,
                    const struct prove_options *asked, const struct prove_report *report)
{
    if (status == PROVE_INTERRUPTED) {
        options_error("interrupted");
        return EXIT_INTERRUPTED;
    }
    if (status != PROVE_DONE) {
        options_error("%s", report->error);
        return status == PROVE_INPUT ? EXIT_USAGE : EXIT_ENVIRONMENT;
    }
    if (options->quiet)
        prove_conclusion(stdout, asked, report);
    else
        prove_print(stdout, asked, report, options->verbose);
    const int written = options->report[REPORT_JSON] ? write_json(options, asked, report, false) : 0;
    return written != 0 ? written : prove_passes(report) ? EXIT_GENERAL : EXIT_OTHER;
}

int command_selftest(const struct options *options)
{
    struct device device;
    struct prove_report report = {0};
    char error[512];
    catch_signals(child_stop_all);
    const struct problem *problem;
    int status = prepare_defined_problem("selftest", options->argument[0], &problem);
    if (status == 0)
        status = outputs_check(options);
    if (status != 0)
        return status;
    status = device_open_patiently(&device, options->device, prepare_device_full, error, sizeof error);
    if (status != 0) {
        options_error("%s", error);
        return status == DEVICE_SPEC ? EXIT_USAGE : EXIT_ENVIRONMENT;
    }
    if (device.backend == BACKEND_CUDA) {
        const enum folder_status prepared = folder_prepare_cuda(problem, device.arch, error, sizeof error);
        if (prepared != FOLDER_OK) {
            options_error("%s", error);
            return prepared == FOLDER_INPUT ? EXIT_USAGE : EXIT_ENVIRONMENT;
        }
    }
    const bool terminal = isatty(STDERR_FILENO) && !options->quiet;
    const struct prove_options asked = {.problem = problem,
                                        .device = &device,
                                        .space = options->space,
                                        .seen = options->seen,
                                        .seed = options->seed_given ? options->seed : SEED_DEFAULT,
                                        .sizes = prove_sizes(options->effort != EFFORT_QUICK),
                                        .timeout = options->timeout,
                                        .progress = terminal ? show_progress : NULL};
    /* writes an empty file first: an unwritable path shows before time is spent */
    status = options->report[REPORT_JSON] ? write_json(options, &asked, &report, true) : 0;
    if (status != 0)
        return status;
    const enum prove_status proved = prove_run(&asked, &report);
    if (terminal)
        fprintf(stderr, "\r\033[K");
    status = conclude(proved, options, &asked, &report);
    prove_clear(&report);
    return status;
}
