#include "forms_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verify/build/build.h"

static void put_source(char *path, const char *source)
{
    const int fd = mkstemps(path, (int)strlen(strrchr(path, '.')));
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, source, strlen(source)), (int)strlen(source));
    ck_assert_int_eq(close(fd), 0);
}

static const char *interpreter;

void form_run_python(const char *python)
{
    interpreter = python;
}

/* The object outlives its build: the session loads it at its first configuration. */
static struct build built;

void form_run_open(struct form_run *run, const struct problem *problem, const char *line, const char *source,
                   bool cuda)
{
    char path[64], text[4096];
    struct space_error error;
    memset(run, 0, sizeof *run);
    snprintf(path, sizeof path, "/tmp/unseen-test-XXXXXX.%s", cuda ? "cu" : "c");
    put_source(path, source);
    ck_assert_msg(device_open(&run->device, cuda ? "cuda" : "host", text, sizeof text) == 0, "%s", text);
    const struct build_options build = {.path = path,
                                        .backend = cuda ? BACKEND_CUDA : BACKEND_HOST,
                                        .arch = run->device.arch,
                                        .timeout = 120};
    ck_assert_msg(build_candidate(&built, &build, text, sizeof text) == BUILD_OK, "%s", text);
    remove(path);
    ck_assert_msg(config_parse(&run->config, problem, line, "test", &error) == 0, "%s", error.text);
    const struct session_options options = {.problem = problem,
                                            .device = &run->device,
                                            .object = built.object,
                                            .interpreter = interpreter,
                                            .timeout = 10,
                                            .threads = 2,
                                            .workers = 1};
    run->session = session_open(&options);
    ck_assert_ptr_nonnull(run->session);
}

void form_run_check(struct form_run *run, enum outcome outcome)
{
    memset(&run->result, 0, sizeof run->result);
    ck_assert_msg(session_check(run->session, &run->config, &run->result) == SESSION_OK, "%s",
                  session_error(run->session));
    ck_assert_msg(run->result.outcome == outcome, "%s (%s), expected %s", outcome_name(run->result.outcome),
                  run->result.detail, outcome_name(outcome));
}

void form_run_close(struct form_run *run)
{
    session_close(run->session);
    build_clear(&built);
}
