/* Reads a stored result's scores. They are not recomputed, since the table of rewards is not in the file. */
#include "scores.h"
#include "stored_internal.h"

static const char *state_word(int i)
{
    return score_state_name((enum score_state)i);
}

static void read_score(struct reading *r, const json_t *set, enum score_name name, struct score_value *score)
{
    const json_t *json = stored_object(r, set, score_traits(name)->name);

    score->state = (enum score_state)stored_name(r, json, "state", state_word, SCORE_STATES, SCORE_NONE);
    score->value = stored_number(r, json, "value", 0);
    stored_copy(r, json, "reason", score->reason, sizeof score->reason);
}

static void read_quadrants(struct reading *r, const json_t *set, struct score_quadrants *q)
{
    const json_t *json = stored_object(r, set, "quadrants");

    *q = (struct score_quadrants){.both = stored_count(r, json, "both"),
                                  .regression = stored_count(r, json, "regression"),
                                  .improvement = stored_count(r, json, "improvement"),
                                  .neither = stored_count(r, json, "neither"),
                                  .unknown = stored_count(r, json, "unknown")};
}

void stored_scores(struct reading *r, const json_t *json, struct result *result)
{
    struct result_scores *scores = &result->scores;
    const json_t *object = stored_object(r, json, "scores"), *seen = stored_object(r, object, "seen"),
                 *unseen = stored_object(r, object, "unseen");

    scores->present = object != NULL;
    scores->compared = object && stored_flag(r, object, "compared", false);
    for (int i = 0; i < SCORE_NAMES; i++) {
        read_score(r, seen, (enum score_name)i, &scores->seen[i]);
        read_score(r, unseen, (enum score_name)i, &scores->unseen[i]);
    }
    read_quadrants(r, seen, &scores->seen_quadrants);
    read_quadrants(r, unseen, &scores->unseen_quadrants);
}
