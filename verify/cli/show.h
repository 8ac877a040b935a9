/* What several commands print in the same words. */
#ifndef UNSEEN_SHOW_H
#define UNSEEN_SHOW_H

#include <stdio.h>

#include "options.h"
#include "verify/session/session.h"
#include "verify/session/task.h"

/* Where it goes: standard output, or standard error once show_away has found that a document goes there. */
void show_away(const struct options *options);
FILE *show_out(void);

/* Write --json, where it was asked for: of check `first` and no diagnosis; of shrink the failure that it began with. Returns 0, or an
 * exit status after printing an error. */
int show_json(const struct task *task, const struct options *options, const struct session *session,
              const struct config_result *first, const struct diagnosis *diagnosis, bool passes);

/* "  LABEL      TEXT", in plain characters. */
void show_line(const char *label, const char *text);

/* Outcome and configuration, what was found, the worst element. */
void show_result(const struct task *task, const struct config_result *result);
void show_findings(const struct session *session);

/* The problem's derived sizes for every configuration: rules name them, and drawings show them. */
void show_derived(struct result *result);

/* When the run began, and its command line. */
void show_run(struct result *result);

/* A note of the sizes of an imported task that its import left as they were published: of others nobody knows anything. */
void show_kept_sizes(struct result *result, const struct task *task);

/* Notes of its inputs whose elements get_inputs makes of each other, which what is drawn here does not keep, and of those that
 * are the same whenever sizes are (positions that count up). */
void show_computed_inputs(struct result *result, const struct task *task);

/* What times are worth where others used the device, or its clock was held back: notes of the result. */
void show_company(struct result *result);

/* The command that runs one configuration again, ready to paste. */
void show_command(const struct options *options, const struct task *task, const struct config_result *result);

/* The words that such a command needs behind the configuration: "--device", "host"; NULL ends them. */
enum { SHOW_WORDS = 20 };
struct show_words {
    const char *word[SHOW_WORDS];
    char text[SHOW_WORDS][24]; /* options, and numbers that were made for them */
    int count;
};
void show_check_words(struct show_words *list, const struct options *options, const struct task *task);

#endif
