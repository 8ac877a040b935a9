/* Two numbers must be zero: broken kernels accepted, honest kernels rejected. */
#include <check.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "battery.h"
#include "share.h"
#include "suites.h"

static struct specimen *specimen;
static struct trial_run *runs;

START_TEST(a_candidate_gets_its_expected_verdict)
{
    const struct trial_run *run = &runs[_i];
    const char *mismatch = battery_mismatch(&specimen[run->specimen], run);
    ck_assert_msg(mismatch == NULL, "%s, seed %llu: %s", specimen[run->specimen].source, run->seed,
                  mismatch ? mismatch : "");
}
END_TEST

static struct battery_sample choose_sample(void)
{
    return (struct battery_sample){(unsigned long long)share_number("BATTERY_SEED", 1, 1), share_size(),
                                   share_rotation_of(share_size())};
}

/* The runs are made here, before Check forks its tests, which then only look. */
static Suite *battery_suite(const char *name, const char *suffix, const char *device, int parallel)
{
    Suite *suite = suite_create(name);
    TCase *tcase = tcase_create(name);
    const struct battery_sample sample = choose_sample();
    const int specimens = battery_list(suffix, &specimen);
    const int count = battery_plan(specimens, &sample, &runs);
    printf("%s: %d candidates with %d seeds from %llu on: %d runs", name, specimens, BATTERY_SEEDS,
           sample.first_seed, count);
    if (sample.share > 1)
        printf(" of %d", specimens * BATTERY_SEEDS);
    printf("\n");
    share_print(name, NULL); /* flushes before the first fork */
    battery_run(specimen, device, share_number("BATTERY_PARALLEL", 1, parallel), runs, count);
    tcase_add_loop_test(tcase, a_candidate_gets_its_expected_verdict, 0, count);
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
