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

/* The words that such a command needs behind the configuration: "--device", "host"; NULL ends them. */
enum { SHOW_WORDS = 20 };
struct show_words {
    const char *word[SHOW_WORDS];
    char text[SHOW_WORDS][24]; /* options, and numbers that were made for them */
    int count;
};
void show_check_words(struct show_words *list, const struct options *options, const struct task *task);

#endif
