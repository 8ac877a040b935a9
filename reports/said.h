/* What a result comes to, in sentences that every writer shares. Each fills `text` and ends it. */
#ifndef UNSEEN_SAID_H
#define UNSEEN_SAID_H

#include "result.h"

enum { SAID_SIZE = 1024 };

/* Why the verdict is what it is, for a reader who never saw the tool; what was taken away comes first. */
void said_verdict(char text[SAID_SIZE], const struct result *result);
/* "wrong whenever k % 64 != 0 (96/96 confirmed; right on 104/104 others)"; why there is none. */
void said_rule(char text[SAID_SIZE], const struct diagnosis *d);
/* Of one kind of failures among several. */
void said_kind(char text[SAID_SIZE], const struct result_kind *kind);
/* "14 of 12297 elements wrong, .."; of the simplest failing configuration. */
void said_smallest(char text[SAID_SIZE], const struct diagnosis *d);
/* Drop and retention with their intervals; an interval that spans more than the figure is said in words. False: there is
 * none. */
bool said_drop(char text[SAID_SIZE], const struct result *result);
bool said_retention(char text[SAID_SIZE], const struct result *result);
/* Why a set has no number for its score, in words. False: both have one, or nothing was scored. */
bool said_no_score(char text[SAID_SIZE], const struct result *result);
/* What the arithmetic fits, beside what is admitted. */
void said_arithmetic(char text[SAID_SIZE], const struct result *result);
/* "c, sha256 0123456789abcdef, built in 0.4 s"; "NVIDIA H200, driver 570"; what they can do: false, not known. */
void said_candidate(char text[SAID_SIZE], const struct result *result);
void said_device(char text[SAID_SIZE], const struct result *result);
bool said_ceilings(char text[SAID_SIZE], const struct result *result);
/* What our check says, and what another that judged beside it; returns the other's name, "your check" (the contract's own constants)
 * or "published". NULL: there was none. */
const char *said_checks(char ours[SAID_SIZE], char other[SAID_SIZE], const struct result *result);
/* What the contract's own constants say of one configuration: false, there are none or they did not judge it. */
bool said_own(char text[SAID_SIZE], const struct result *result, const struct config_result *config);
/* After how much the run was cut off; false: it was not. */
bool said_partial(char text[SAID_SIZE], const struct result *result);

/* The command that runs a configuration again, ready to paste; where only timed calls failed, with their line. */
void said_command(FILE *out, const struct result *result, const struct config_result *config);
/* The same of a configuration's line with --values. */
void said_command_values(FILE *out, const struct result *result, const char *line, const char *values);
/* The command of the run, with its seed: as it was typed, or made of what is known. An option may follow. */
void said_command_again(FILE *out, const struct result *result);
/* Commands for the next step: shrink that failure; run it first from now on; hold a later version against a stored result. */
void said_command_shrink(FILE *out, const struct result *result, const char *line);
void said_command_freeze(FILE *out, const struct result *result, const char *line);
void said_command_compare(FILE *out, const struct result *result, const char *baseline);

#endif
