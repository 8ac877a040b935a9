/* Sentences about a result, shared by all writers. Each function fills `text` and terminates it. */
#ifndef UNSEEN_SAID_H
#define UNSEEN_SAID_H

#include "result.h"

enum { SAID_SIZE = 1024 };

/* The reason for the verdict, for a first-time reader; missing defences come first. */
void said_verdict(char text[SAID_SIZE], const struct result *result);
/* "wrong whenever k % 64 != 0 (96/96 confirmed; right on 104/104 others)"; or why there is no rule. */
void said_rule(char text[SAID_SIZE], const struct diagnosis *d);
/* The rule of one kind of failure among several. */
void said_kind(char text[SAID_SIZE], const struct result_kind *kind);
/* "14 of 12297 elements wrong, ..", about the simplest failing configuration. */
void said_smallest(char text[SAID_SIZE], const struct diagnosis *d);
/* Drop and retention with their intervals. An interval wider than its value is described in words. False:
 * there is none. */
bool said_drop(char text[SAID_SIZE], const struct result *result);
bool said_retention(char text[SAID_SIZE], const struct result *result);
/* Why a set has no score. False: both sets have one, or nothing was scored. */
bool said_no_score(char text[SAID_SIZE], const struct result *result);
/* The arithmetic class that fits the errors, compared with the admitted one. */
void said_arithmetic(char text[SAID_SIZE], const struct result *result);
/* "c, sha256 0123456789abcdef, built in 0.4 s"; "NVIDIA H200, driver 570"; the device's ceilings (false: not
 * known). */
void said_candidate(char text[SAID_SIZE], const struct result *result);
void said_device(char text[SAID_SIZE], const struct result *result);
bool said_ceilings(char text[SAID_SIZE], const struct result *result);
/* Verdicts of our check and of a second check on the same run. Returns the second check's name: "your check"
 * (the contract's own tolerances) or "published". NULL: there was no second check. */
const char *said_checks(char ours[SAID_SIZE], char other[SAID_SIZE], const struct result *result);
/* Result of the contract's own tolerances on one configuration. False: there are none, or they did not judge
 * it. */
bool said_own(char text[SAID_SIZE], const struct result *result, const struct config_result *config);
/* How far the run came before it was cut off. False: it was not cut off. */
bool said_partial(char text[SAID_SIZE], const struct result *result);

/* The command that runs a configuration again, ready to paste; if only timed calls failed, the configuration
 * of these calls. */
void said_command(FILE *out, const struct result *result, const struct config_result *config);
/* The same as a string, which the caller frees; NULL: out of memory. */
char *said_command_text(const struct result *result, const struct config_result *config);
/* The same for a configuration line with --values. */
void said_command_values(FILE *out, const struct result *result, const char *line, const char *values);
/* The command of the whole run with its seed: as typed, or reconstructed if the typed one is not known. An
 * option may be appended. */
void said_command_again(FILE *out, const struct result *result);
/* Commands for the next step: shrink that failure; add it to the regressions; compare a later version with a
 * stored result. */
void said_command_shrink(FILE *out, const struct result *result, const char *line);
void said_command_freeze(FILE *out, const struct result *result, const char *line);
void said_command_compare(FILE *out, const struct result *result, const char *baseline);

#endif
