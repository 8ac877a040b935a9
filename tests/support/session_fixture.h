/* A session on a right softmax with something after it. */
#ifndef UNSEEN_TESTS_SESSION_FIXTURE_H
#define UNSEEN_TESTS_SESSION_FIXTURE_H

#include <check.h>

#include "verify/build/build.h"
#include "verify/session/session.h"

enum { X, Y }; /* the tensors of softmax */

/* The folder of the kernel that is open. */
extern char folder[32];
extern struct build build;
extern struct device device;
extern struct session *session;
extern struct config config;

/* `before` stands at file scope, `after` behind the right softmax; `calls` counts them in one process. */
void open_kernel(const char *before, const char *after);
void close_kernel(void);
void expect_reason(struct reason got, struct reason want);

#endif
