/* What several commands print in the same words. */
#ifndef UNSEEN_SHOW_H
#define UNSEEN_SHOW_H

#include "options.h"
#include "verify/session/session.h"
#include "verify/session/task.h"

/* "  LABEL      TEXT", in plain characters. */
void show_line(const char *label, const char *text);

/* Outcome and configuration, what was found, the worst element. */
void show_result(const struct config_result *result);
void show_findings(const struct session *session);

/* The command that runs one configuration again, ready to paste. */
void show_command(const struct options *options, const struct task *task, const char *config);

/* The options that such a command needs beside the candidate and the configuration: "--device host". The
 * caller frees it; NULL: out of memory. */
char *show_command_options(const struct options *options, const struct task *task);

#endif
