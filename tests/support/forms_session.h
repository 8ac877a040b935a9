/* Candidates for the small problems of tests/forms, built and run as a session runs them. */
#ifndef UNSEEN_TESTS_FORMS_SESSION_H
#define UNSEEN_TESTS_FORMS_SESSION_H

#include "forms.h"
#include "verify/device/device.h"
#include "verify/session/session.h"

struct form_run {
    struct device device;
    struct session *session;
    struct config config;
    struct config_result result;
};

/* Builds `source` for the host or, `cuda`, the GPU, and opens a session with it. */
void form_run_open(struct form_run *run, const struct problem *problem, const char *line, const char *source,
                   bool cuda);
void form_run_check(struct form_run *run, enum outcome outcome); /* fails the test on another one */
void form_run_close(struct form_run *run);

/* The interpreter of sessions that are opened from now on; NULL: python3. */
void form_run_python(const char *python);

#endif
