/* What every part of the tool knows about a score: its name, what it is, and where its formula was published. */
#ifndef UNSEEN_REPORT_SCORES_H
#define UNSEEN_REPORT_SCORES_H

#include "result.h"

struct score_traits {
    const char *name;   /* as --reward and the JSON result have it: "aka_points" */
    const char *title;  /* "AgentKernelArena, points" */
    const char *source; /* repository, file and version; NULL: ours */
    double threshold;   /* of fast_p: p */
    bool timed;         /* made of times */
    bool compares;      /* with a baseline */
};
const struct score_traits *score_traits(enum score_name name);

/* The score that `word` names ("sol"), or SCORE_NAMES. */
enum score_name score_find(const char *word, size_t length);

/* Where the times do not carry the set's `score`: what is shown in the place of a number, "inconclusive" or "not comparable";
 * else NULL. */
const char *score_open(const struct result *result, bool unseen);

/* `scores`, null where there are none (json.c). */
struct json_t *scores_json(const struct result *result);

/* What --scores prints. */
void terminal_scores(FILE *out, const struct result *result);

#endif
