/* The test runner: all host suites, or those named on the command line. */
#include <check.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "share.h"
#include "skip.h"
#include "suites.h"
#include "verify/sandbox/sandbox.h"

static const struct {
    const char *name;
    Suite *(*make)(void);
    int slow; /* runs only when it is named */
} suites[] = {
    {"gen", gen_suite, 0},
    {"score", score_suite, 0},
    {"compare", compare_suite, 0},
    {"calibrate", calibrate_suite, 0},
    {"reports", reports_suite, 0},
    {"launch", launch_suite, 0},
    {"interpreter", interpreter_suite, 0},
    {"child", child_suite, 0},
    {"forbid", forbid_suite, 0},
    {"contract", contract_suite, 0},
    {"session", session_suite, 0},
    {"house", house_suite, 0},
    {"history", history_suite, 0},
    {"build", build_suite, 0},
    {"inspect", inspect_suite, 0},
    {"batch", batch_suite, 0},
    {"cli", cli_suite, 0},
    {"own", own_suite, 0},
    {"python", python_suite, 0},
    {"task", task_suite, 0},
    {"importing", importing_suite, 0},
    {"clue_service", clue_service_suite, 0},
    {"harden", harden_suite, 0},
    {"reference", reference_suite, 0},
    {"error", error_suite, 0},
    {"fill", fill_suite, 0},
    {"judge", judge_suite, 0},
    {"prove", prove_suite, 0},
    {"forms", forms_suite, 0},
    {"oracle_task", oracle_task_suite, 0},
    {"condition", condition_suite, 0},
    {"pattern", pattern_suite, 0},
    {"values", values_suite, 0},
    {"busy", busy_suite, 0},
    {"shrink", shrink_suite, 0},
    {"derived", derived_suite, 0},
    {"explain", explain_suite, 0},
    {"plant", plant_suite, 0},
    {"faults", faults_suite, 0},
    {"docs", docs_suite, 0},
    {"fuzz", fuzz_suite, 0},
    {"lost", lost_suite, 0},
    {"bugs", bugs_suite, 0},
    {"bugs-compile", bugs_compile_suite, 1},
    {"battery", battery_host_suite, 1},
    {"battery-cuda", battery_cuda_suite, 1},
    {"zoo", zoo_suite, 1},
    {"zoo-cuda", zoo_cuda_suite, 1},
    {"honest", honest_suite, 0},
    {"mutants", mutants_suite, 1},
    {"honest-cuda", honest_cuda_suite, 1},
    {"gpu", gpu_suite, 1},
};
enum { SUITES = sizeof suites / sizeof *suites };

/* The named suites; with `--but` before the names, all others that are not slow. */
static int wanted(int i, int argc, char **argv)
{
    const int but = argc > 1 && strcmp(argv[1], "--but") == 0;
    for (int a = 1 + but; a < argc; a++)
        if (strcmp(argv[a], suites[i].name) == 0)
            return !but;
    return (argc == 1 || but) && !suites[i].slow;
}

/* A failure is found by a test. An error is a test that broke: a signal, a timeout, an exit. */
static int report(SRunner *runner)
{
    const int failed = srunner_ntests_failed(runner), ran = srunner_ntests_run(runner);
    TestResult **result = srunner_failures(runner);
    int errors = 0;
    for (int i = 0; i < failed; i++)
        errors += tr_rtype(result[i]) == CK_ERROR;
    free(result);
    printf("%d checks, %d failures, %d errors, %d skipped", ran, failed - errors, errors, skip_count());
    printf(skip_count() ? ": " : "");
    skip_print();
    printf("\n");
    return failed == 0 && ran > skip_count() ? EXIT_SUCCESS : EXIT_FAILURE;
}

static char cache[] = "/tmp/unseen-tests-cache-XXXXXX";

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status, (void)kind, (void)walk;
    return remove(path);
}

static void remove_cache(void)
{
    nftw(cache, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* The user's files about this machine and about problems are neither read nor written. */
static void open_cache(void)
{
    if (mkdtemp(cache))
        setenv("XDG_CACHE_HOME", cache, 1);
}

int main(int argc, char **argv)
{
    SRunner *runner = NULL;
    open_cache();
    skip_open();
    share_open(argv[0]);
    sandbox_add_source("."); /* kernels of the tree include each other's headers */
    for (int i = 0; i < SUITES; i++)
        if (wanted(i, argc, argv)) {
            if (runner)
                srunner_add_suite(runner, suites[i].make());
            else
                runner = srunner_create(suites[i].make());
        }
    if (!runner) {
        fprintf(stderr, "no such suite; there are:");
        for (int i = 0; i < SUITES; i++)
            fprintf(stderr, " %s", suites[i].name);
        fprintf(stderr, "\n");
        remove_cache();
        return 2;
    }
    char log[sizeof cache + sizeof "/log"];
    snprintf(log, sizeof log, "%s/log", cache);
    srunner_set_log(runner, log);
    srunner_run_all(runner, CK_NORMAL);
    share_print_all(log);
    const int status = report(runner);
    srunner_free(runner);
    remove_cache();
    return status;
}
