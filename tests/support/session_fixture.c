#include "session_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gen/contract/space.h"

/* A right softmax, then `after`; `calls` counts them in one process. */
static const char source[] =
    "#include <math.h>\n#include <stdint.h>\n#include <stdlib.h>\n#include <unistd.h>\n"
    "static int calls;\n%s\n#ifndef SILENT\n#define SILENT 0\n#endif\n"
    "static void right(const float *x, float *y, int64_t rows, int64_t cols)\n{\n"
    "    for (int64_t r = 0; r < rows; r++, x += cols, y += cols) {\n"
    "        double most = -INFINITY, sum = 0;\n"
    "        for (int64_t c = 0; c < cols; c++) most = x[c] > most ? x[c] : most;\n"
    "        for (int64_t c = 0; c < cols; c++) sum += exp(x[c] - most);\n"
    "        for (int64_t c = 0; c < cols; c++) y[c] = (float)(exp(x[c] - most) / sum);\n    }\n}\n"
    "int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)\n{\n"
    "    (void)stream;\n    calls++;\n    if (!SILENT) right(x, y, rows, cols);\n    %s\n    return 0;\n}\n";

char folder[32];
struct build build;
struct device device;
struct session *session;
struct config config;

void open_kernel(const char *before, const char *after)
{
    char path[64], error[4096] = "";
    struct space_error problem;
    strcpy(folder, "/tmp/unseen-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/kernel.c", folder);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, source, before, after);
    ck_assert_int_eq(fclose(file), 0);
    const struct build_options options = {.path = path, .timeout = 60};
    ck_assert_msg(build_candidate(&build, &options, error, sizeof error) == BUILD_OK, "%s", error);
    unlink(path);
    ck_assert_int_eq(device_open(&device, "host", error, sizeof error), 0);
    ck_assert_int_eq(
        config_parse(&config, problem_find("softmax"), "rows=3 cols=100 seed=5", "test", &problem), 0);
    session = session_open(&(struct session_options){.problem = config.problem,
                                                     .device = &device,
                                                     .object = build.object,
                                                     .timeout = 1,
                                                     .threads = 2,
                                                     .workers = 1});
    ck_assert_ptr_nonnull(session);
}

void close_kernel(void)
{
    session_close(session);
    build_clear(&build);
    rmdir(folder);
}

void expect_reason(struct reason got, struct reason want)
{
    ck_assert_int_eq(got.cause, want.cause);
    ck_assert_int_eq(got.stage, want.stage);
    ck_assert_int_eq(got.side, want.side);
    ck_assert_int_eq(got.tensor, want.tensor);
}
