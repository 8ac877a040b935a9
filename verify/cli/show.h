/* Output that several commands share. */
#ifndef UNSEEN_SHOW_H
#define UNSEEN_SHOW_H

#include <stdio.h>

#include "options.h"
#include "verify/session/session.h"
#include "verify/session/task.h"

/* The stream for messages: standard output, or standard error after show_away has found that a document goes
 * to standard output. */
void show_away(const struct options *options);
FILE *show_out(void);

/* Writes --json, if requested. For check: `first` without a diagnosis; for shrink: the initial failure.
 * Returns 0, or an exit status after printing an error. */
int show_json(const struct task *task, const struct options *options, const struct session *session,
              const struct config_result *first, const struct diagnosis *diagnosis, bool passes);

/* Prints " LABEL TEXT" in plain ASCII. */
void show_line(const char *label, const char *text);

/* Prints outcome and configuration, the finding and the worst element. */
void show_result(const struct task *task, const struct config_result *result);
void show_findings(const struct session *session);

/* Computes the problem's derived sizes for every configuration, for rules and drawings. */
void show_derived(struct result *result);

/* Records when the run began, and its command line. */
void show_run(struct result *result);

/* Adds a note on the sizes of an imported task that its import kept fixed: nothing is known about other
 * values. */
void show_kept_sizes(struct result *result, const struct task *task);

/* Adds notes on inputs that get_inputs computes from each other, a relation that drawing does not keep, and
 * on inputs that depend only on sizes (such as ascending positions). */
void show_computed_inputs(struct result *result, const struct task *task);

/* Adds notes on the reliability of times if others used the device, or its clock was throttled. */
void show_company(struct result *result);

/* Prints the command that runs one configuration again, ready to paste. */
void show_command(const struct options *options, const struct task *task, const struct config_result *result);

/* The words that such a command needs after the configuration: "--device", "host"; NULL-terminated. */
enum { SHOW_WORDS = 20 };
struct show_words {
    const char *word[SHOW_WORDS];
    char text[SHOW_WORDS][24]; /* options, and numbers formatted for them */
    int count;
};
void show_check_words(struct show_words *list, const struct options *options, const struct task *task);

#endif
