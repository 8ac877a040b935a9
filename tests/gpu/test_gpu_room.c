/* The verdict where other programs hold the GPU's whole memory. */
#include <check.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "skip.h"
#include "suites.h"
#include "verify/device/device.h"
#include "verify/device/memory.h"

#define HELD_S 8

/* All of it, down to the driver's smallest piece, for a while. */
static void hold_all(int told)
{
    struct device device;
    char error[512];
    void *held;
    const struct memory *const memory = memory_of(BACKEND_CUDA);
    if (!memory || device_open(&device, "cuda", error, sizeof error) != DEVICE_OK)
        _exit(1);
    for (size_t bytes = (size_t)1 << 30; bytes >= (size_t)1 << 21; bytes /= 2)
        while (memory->take(&held, bytes) == 0)
            ;
    (void)!write(told, "!", 1);
    sleep(HELD_S);
    _exit(0);
}

START_TEST(a_context_waits_for_memory_that_others_hold)
{
    int told[2], status;
    char word;
    ck_assert_int_eq(pipe(told), 0);
    const pid_t pid = fork();
    if (pid == 0)
        hold_all(told[1]);
    close(told[1]);
    ck_assert_msg(read(told[0], &word, 1) == 1, "nobody holds the memory");
    CLI("check", "softmax", cli_repository("problems/softmax/baseline.cu"), "rows=7 cols=33 seed=5",
        "--device", "cuda");
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    close(told[0]);
    cli_expect(0, "pass: ");
    ck_assert_msg(strstr(cli.err, "other programs hold all the memory of this GPU: waiting for it"), "%s",
                  cli.err);
}
END_TEST

/* Every thread involved works on that GPU, and so does every process, of a module and of an imported task
 * too. */
START_TEST(the_last_of_several_gpus_serves_like_the_first)
{
    char spec[32];
    const int count = device_count_apart();
    if (count < 2) {
        skip_test("one GPU");
        return;
    }
    snprintf(spec, sizeof spec, "cuda:%d", count - 1);
    CLI("verify", "softmax", cli_repository("problems/softmax/baseline.cu"), "--unseen", "4", "--small", "8",
        "--device", spec);
    cli_expect(0, "general: ");
    if (!cli_torch())
        return;
    CLI("verify", cli_repository("tests/python/tasks/affine.py"),
        cli_repository("tests/python/tasks/affine.py"), "--entry", "Model", "--unseen", "2", "--no-timing",
        "--python", cli_torch(), "--device", spec);
    cli_expect(0, "general: ");
}
END_TEST

TCase *gpu_room_case(void)
{
    TCase *tests = tcase_create("room");
    tcase_set_timeout(tests, 200);
    tcase_add_checked_fixture(tests, cli_setup, cli_teardown);
    tcase_add_test(tests, a_context_waits_for_memory_that_others_hold);
    tcase_add_test(tests, the_last_of_several_gpus_serves_like_the_first);
    return tests;
}
