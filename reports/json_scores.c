/* Rewards and published scores as JSON. */
#include <jansson.h>

#include "scores.h"

static json_t *words(const char *text)
{
    return text && text[0] ? json_string(text) : json_null();
}

static json_t *score_json(const struct score_value *score)
{
    return json_pack("{s:s, s:o, s:o}", "state", score_state_name(score->state), "value",
                     score->state == SCORE_VALUE ? json_real(score->value) : json_null(), "reason",
                     words(score->reason));
}

static json_t *quadrants_json(const struct score_quadrants *q)
{
    return json_pack("{s:i, s:i, s:i, s:i, s:i}", "both", q->both, "regression", q->regression, "improvement",
                     q->improvement, "neither", q->neither, "unknown", q->unknown);
}

static json_t *set_json(const struct score_value *score, const struct score_quadrants *quadrants,
                        bool compared)
{
    json_t *json = json_object();

    for (int i = 0; i < SCORE_NAMES; i++)
        json_object_set_new(json, score_traits((enum score_name)i)->name, score_json(&score[i]));
    json_object_set_new(json, "quadrants", compared ? quadrants_json(quadrants) : json_null());
    return json;
}

static json_t *sources_json(void)
{
    json_t *json = json_object();

    for (int i = 0; i < SCORE_NAMES; i++)
        if (score_traits((enum score_name)i)->source != NULL)
            json_object_set_new(json, score_traits((enum score_name)i)->name,
                                json_string(score_traits((enum score_name)i)->source));
    return json;
}

json_t *scores_json(const struct result *result)
{
    const struct result_scores *scores = &result->scores;

    if (!scores->present)
        return json_null();
    return json_pack("{s:b, s:o, s:o, s:o}", "compared", scores->compared, "seen",
                     set_json(scores->seen, &scores->seen_quadrants, scores->compared), "unseen",
                     set_json(scores->unseen, &scores->unseen_quadrants, scores->compared), "sources",
                     sources_json());
}
