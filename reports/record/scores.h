/* Properties of a score, in one table for all parts of the tool: name, title, and the source of its
 * formula. */
#ifndef UNSEEN_REPORT_SCORES_H
#define UNSEEN_REPORT_SCORES_H

#include "result.h"

struct score_traits {
    const char *name;   /* the word of --reward and the JSON result: "aka_points" */
    const char *title;  /* "AgentKernelArena, points" */
    const char *source; /* repository, file and version; NULL: ours */
    double threshold;   /* for fast_p: p */
    bool timed;         /* computed from times */
    bool compares;      /* relative to a baseline */
};
const struct score_traits *score_traits(enum score_name name);

/* The score that `word` names ("sol"); SCORE_NAMES if there is none. */
enum score_name score_find(const char *word, size_t length);

/* If the times do not support the set's `score`: the word shown instead, "inconclusive" or "not comparable".
 * Else NULL. */
const char *score_open(const struct result *result, bool unseen);

/* Prints the table of --scores. */
void terminal_scores(FILE *out, const struct result *result);

#endif
