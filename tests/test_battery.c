/* Two numbers must be zero: broken kernels accepted, honest kernels rejected. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "battery.h"
#include "suites.h"

static struct specimen *specimen;
static struct trial_run *runs;

START_TEST(a_candidate_meets_its_declared_fate)
{
    const struct trial_run *run = &runs[_i];
    const char *objection = battery_objection(&specimen[run->specimen], run);
    ck_assert_msg(objection == NULL, "%s, seed %llu: %s", specimen[run->specimen].path, run->seed,
                  objection ? objection : "");
}
END_TEST

/* The runs are made here, before Check forks its tests, which then only look. */
static Suite *battery_suite(const char *name, const char *suffix, const char *device, int parallel)
{
    Suite *suite = suite_create(name);
    TCase *tcase = tcase_create(name);
    const char *seed = getenv("BATTERY_SEED");
    const int count = battery_list(suffix, &specimen);
    runs = calloc((size_t)count * BATTERY_SEEDS, sizeof *runs);
    if (!runs)
        exit(2);
    printf("%s: %d candidates, %d seeds each\n", name, count, BATTERY_SEEDS);
    battery_run(specimen, count, device, parallel, seed ? strtoull(seed, NULL, 10) : 1, runs);
    tcase_add_loop_test(tcase, a_candidate_meets_its_declared_fate, 0, count * BATTERY_SEEDS);
    suite_add_tcase(suite, tcase);
    return suite;
}

Suite *battery_host_suite(void)
{
    return battery_suite("battery", ".c", "host", 2);
}

Suite *battery_cuda_suite(void)
{
    return battery_suite("battery-cuda", ".cu", "cuda", 5);
}
