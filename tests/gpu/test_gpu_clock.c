/* Work that outlives its call, on a real device. It is proved where the device is ours alone, a note
 * otherwise, and never reported of an honest kernel. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "gen/contract/space.h"
#include "verify/build/build.h"
#include "verify/device/other_processes.h"
#include "verify/session/session_timing.h"
#include "suites.h"

static struct device device;

struct timed {
    struct config_result result;
    struct company company;
    int findings;
    enum finding_kind kind;
};

static struct lease *open_lease(void)
{
    char why[400];
    const struct lease_options options = {.device = device.uuid};
    struct lease *lease = lease_open(&options, why, sizeof why);
    ck_assert_msg(lease != NULL, "%s", why);
    return lease;
}

static void time_candidate(const char *path, struct lease *lease, struct timed *out)
{
    struct build build;
    struct config config;
    struct space_error error;
    char text[4096];
    const struct build_options options = {
        .path = path, .backend = BACKEND_CUDA, .arch = device.arch, .timeout = 120};
    ck_assert_msg(build_candidate(&build, &options, text, sizeof text) == BUILD_OK, "%s", text);
    ck_assert_int_eq(
        config_parse(&config, problem_find("softmax"), "rows=4096 cols=4096 seed=3", "test", &error), 0);
    const struct session_options session_options = {.problem = problem_find("softmax"),
                                                    .device = &device,
                                                    .object = build.object,
                                                    .timeout = 20,
                                                    .threads = 2,
                                                    .workers = 1,
                                                    .lease = lease};
    struct session *session = session_open(&session_options);
    memset(out, 0, sizeof *out);
    ck_assert_msg(session_time(session, &config, 0.05, &out->result) == SESSION_OK, "%s",
                  session_error(session));
    ck_assert_msg(out->result.timing.present, "%s", out->result.detail);
    const struct finding *finding = session_findings(session, &out->findings);
    if (out->findings > 0) {
        printf("clock: %s: %s\n", finding_name(finding->kind), finding->evidence);
        out->kind = finding->kind;
    }
    session_company(session, &out->company);
    session_close(session);
    build_clear(&build);
}

/* The device, the lease, and whether the device is ours alone, as far as can be known. */
static struct lease *begin(bool *alone)
{
    char error[512] = "";
    ck_assert_msg(device_open(&device, "cuda", error, sizeof error) == 0, "%s", error);
    struct lease *lease = open_lease();
    ck_assert(lease_take(lease));
    const struct other_processes n = other_processes_of(&device, lease, 0, 0);
    printf("clock: %s: NVML says %s, utilization at rest %s\n", device.uuid,
           n.state == OTHER_PROCESSES_NONE   ? "nobody else"
           : n.state == OTHER_PROCESSES_SOME ? "others"
                                             : "nothing",
           other_processes_idle(&device) == IDLE_YES  ? "0"
           : other_processes_idle(&device) == IDLE_NO ? "above 0"
                                                      : "not known");
    *alone = n.state != OTHER_PROCESSES_SOME && other_processes_idle(&device) != IDLE_NO;
    lease_give(lease);
    if (!*alone)
        printf("clock: somebody else is on the device: nothing can be proved here\n");
    return lease;
}

START_TEST(work_that_outlives_the_call_is_proved_on_a_device_of_our_own)
{
    bool alone;
    struct timed timed;
    struct lease *lease = begin(&alone);
    time_candidate("tests/busy/not_joined.cu", lease, &timed);
    ck_assert(timed.result.timing.disturbed);
    ck_assert_int_eq(timed.findings, alone);
    if (alone)
        ck_assert_int_eq(timed.kind, FINDING_CLOCK);
    lease_close(lease);
}
END_TEST

/* It does not wait for the stream of the call. That is allowed, but then the events say nothing, whether it
 * waits for its own work or not. */
START_TEST(work_outside_the_stream_is_timed_by_the_wall_clock)
{
    bool alone;
    struct timed timed;
    struct lease *lease = begin(&alone);
    time_candidate("tests/busy/other_stream.cu", lease, &timed);
    ck_assert_int_eq(timed.findings, 0);
    ck_assert_msg(strstr(timed.result.timing.method, "host's clock") != NULL, "%s",
                  timed.result.timing.method);
    ck_assert_double_gt(timed.result.timing.median_ms, 0.5); /* one thread for a row of 4096 */
    lease_close(lease);
}
END_TEST

START_TEST(beside_another_unseen_it_is_a_note)
{
    bool alone;
    struct timed timed;
    struct lease *lease = begin(&alone), *other = open_lease();
    time_candidate("tests/busy/not_joined.cu", lease, &timed);
    ck_assert_int_eq(timed.findings, 0);
    ck_assert(timed.result.timing.disturbed);
    ck_assert(timed.company.shared);
    ck_assert_int_eq(timed.company.unproved, 1);
    lease_close(other);
    lease_close(lease);
}
END_TEST

START_TEST(without_the_lease_it_is_a_note)
{
    bool alone;
    struct timed timed;
    struct lease *lease = begin(&alone);
    time_candidate("tests/busy/not_joined.cu", NULL, &timed);
    ck_assert_int_eq(timed.findings, 0);
    ck_assert(timed.result.timing.disturbed);
    lease_close(lease);
}
END_TEST

START_TEST(an_honest_kernel_on_a_device_of_our_own_is_trusted)
{
    bool alone;
    struct timed timed;
    struct lease *lease = begin(&alone);
    time_candidate("problems/softmax/baseline.cu", lease, &timed);
    ck_assert_int_eq(timed.findings, 0);
    ck_assert(!alone || !timed.result.timing.disturbed);
    lease_close(lease);
}
END_TEST

TCase *gpu_clock_case(void)
{
    TCase *tcase = tcase_create("clock");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, work_that_outlives_the_call_is_proved_on_a_device_of_our_own);
    tcase_add_test(tcase, work_outside_the_stream_is_timed_by_the_wall_clock);
    tcase_add_test(tcase, beside_another_unseen_it_is_a_note);
    tcase_add_test(tcase, without_the_lease_it_is_a_note);
    tcase_add_test(tcase, an_honest_kernel_on_a_device_of_our_own_is_trusted);
    return tcase;
}
