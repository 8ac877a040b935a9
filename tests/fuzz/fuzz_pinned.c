/* Pinned facts of a problem, shapes/NAME.pinned. */
#include <stdarg.h>
#include <string.h>

#include "fuzz.h"

#define prove_pinned fuzz_prove_pinned
#define prove_ask fuzz_prove_ask
#define prove_fail fuzz_prove_fail
#define prove_broke fuzz_prove_broke
#define prove_break fuzz_prove_break
#define prove_says fuzz_prove_says
#define prove_progress fuzz_prove_progress
#define prove_threads fuzz_prove_threads
#define prove_class_of fuzz_prove_class_of
#include "verify/selftest/prove_pinned.c"

static int64_t asked, failed;

void prove_ask(struct proof *p, enum prove_check check, int64_t count)
{
    (void)p, (void)check;
    asked += count;
}

void prove_fail(struct proof *p, enum prove_check check, const struct config *config, const char *expected,
                const char *format, ...)
{
    char text[PROVE_TEXT];
    va_list arguments;
    (void)p, (void)check, (void)config;
    va_start(arguments, format);
    FUZZ_CHECK(*expected && vsnprintf(text, sizeof text, format, arguments) >= 0);
    va_end(arguments);
    failed++;
}

bool prove_broke(struct proof *p, const char *what, int error)
{
    (void)p, (void)what, (void)error;
    return false;
}

bool prove_break(struct proof *p, enum prove_status status, const char *format, ...)
{
    (void)p, (void)status, (void)format;
    return false;
}

void prove_says(struct proof *p, enum prove_check check, const char *format, ...)
{
    (void)p, (void)check, (void)format;
}

void prove_progress(const struct proof *p, const char *part, int done, int total)
{
    (void)p, (void)part, (void)done, (void)total;
}

void prove_threads(const struct proof *p, double flops)
{
    (void)p, (void)flops;
}

int prove_class_of(const struct config *config)
{
    (void)config;
    return 0;
}

/* No judgement is known here, so "error" lines are read and rejected, and nothing is judged. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char space[128];
    struct prove_report report = {.telling_count = 0};
    struct proof proof = {.problem = fuzz_problem(&data, &size), .report = &report};
    snprintf(space, sizeof space, "shapes/%s.space", proof.problem->name);
    FUZZ_CHECK(space_read(&proof.space, proof.problem, space, NULL) == 0);
    const char *path = fuzz_file(data, size);
    FILE *file = fopen(path, "re");
    FUZZ_CHECK(file != NULL);
    asked = failed = 0;
    read_file(&proof, file, path);
    FUZZ_CHECK(failed <= asked);
    fclose(file);
    if (prove_pinned(&proof)) /* and the problem's own file, of which only "error" lines are rejected */
        FUZZ_CHECK(report.pins && strstr(report.pins, "signature "));
    free(report.pins);
    space_clear(&proof.space);
    return 0;
}
