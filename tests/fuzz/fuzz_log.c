/* The output of a compiler. The candidate's author chose parts of it. */
#include <string.h>

#include "fuzz.h"

#define compiler_run fuzz_compiler_run
#define compiler_keep_log fuzz_compiler_keep_log
#include "verify/build/build_run.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct compiler_command command = {.argv = {"cc", NULL}, .count = 1};
    const struct compiling compiling = {
        .path = "candidate.c", .directory = "/tmp", .log = fuzz_file(data, size)};
    char error[1024] = "";
    const enum build_status status = explain(&command, &compiling, 1 << 8, error, sizeof error);
    FUZZ_CHECK(status != BUILD_OK && *error);
    fuzz_plain(error, strlen(error));
    return 0;
}
