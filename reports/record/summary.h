/* Sentences about a result, shared by all writers. Each function fills `text` and terminates it. */
#ifndef UNSEEN_SUMMARY_H
#define UNSEEN_SUMMARY_H

#include "result.h"

enum { SUMMARY_SIZE = 1024 };

/* The reason for the verdict, for a first-time reader; missing defences come first. */
void summary_verdict(char text[SUMMARY_SIZE], const struct result *result);
/* "wrong whenever k % 64 != 0 (96/96 confirmed; right on 104/104 others)"; or why there is no rule. */
void summary_rule(char text[SUMMARY_SIZE], const struct diagnosis *d);
/* The rule of one kind of failure among several. */
void summary_kind(char text[SUMMARY_SIZE], const struct result_kind *kind);
/* "14 of 12297 elements wrong, ..", about the simplest failing configuration. */
void summary_smallest(char text[SUMMARY_SIZE], const struct diagnosis *d);
/* Drop and retention with their intervals. An interval wider than its value is described in words. False:
 * there is none. */
/* How many branches of the candidate's code were reached, and the first that was not. False: it is not
 * known. */
bool summary_branches(char text[SUMMARY_SIZE], const struct result *result);
/* `softmax.c:118 "if (cols > 1 << 24)" to line 119` */
void summary_branch(char *text, size_t size, const struct result_branch *branch);
/* The outcomes of the directed configurations. False: there are none. */
bool summary_directed(char text[SUMMARY_SIZE], const struct result *result);
bool summary_drop(char text[SUMMARY_SIZE], const struct result *result);
bool summary_retention(char text[SUMMARY_SIZE], const struct result *result);
/* Why a set has no score. False: both sets have one, or nothing was scored. */
bool summary_no_score(char text[SUMMARY_SIZE], const struct result *result);
/* The arithmetic class that fits the errors, compared with the admitted one. */
void summary_arithmetic(char text[SUMMARY_SIZE], const struct result *result);
/* "c, sha256 0123456789abcdef, built in 0.4 s"; "NVIDIA H200, driver 570"; the device's ceilings (false: not
 * known). */
void summary_candidate(char text[SUMMARY_SIZE], const struct result *result);
void summary_device(char text[SUMMARY_SIZE], const struct result *result);
bool summary_ceilings(char text[SUMMARY_SIZE], const struct result *result);
/* Verdicts of our check and of a second check on the same run. Returns the second check's name: "your check"
 * (the contract's own tolerances) or "published". NULL: there was no second check. */
const char *summary_checks(char ours[SUMMARY_SIZE], char other[SUMMARY_SIZE], const struct result *result);
/* Result of the contract's own tolerances on one configuration. False: there are none, or they did not judge
 * it. */
bool summary_own(char text[SUMMARY_SIZE], const struct result *result, const struct config_result *config);
/* How far the run came before it was cut off. False: it was not cut off. */
bool summary_partial(char text[SUMMARY_SIZE], const struct result *result);

/* The command that runs a configuration again, ready to paste; if only timed calls failed, the configuration
 * of these calls. */
void summary_command(FILE *out, const struct result *result, const struct config_result *config);
/* The same as a string, which the caller frees; NULL: out of memory. */
char *summary_command_text(const struct result *result, const struct config_result *config);
/* The same for a configuration line with --values. */
void summary_command_values(FILE *out, const struct result *result, const char *line, const char *values);
/* The command of the whole run with its seed: as typed, or reconstructed if the typed one is not known. An
 * option may be appended. */
void summary_command_again(FILE *out, const struct result *result);
/* Commands for the next step: shrink that failure; add it to the regressions; compare a later version with a
 * stored result. */
void summary_command_shrink(FILE *out, const struct result *result, const char *line);
void summary_command_freeze(FILE *out, const struct result *result, const char *line);
void summary_command_compare(FILE *out, const struct result *result, const char *baseline);

#endif
