/* Compares the tool's statements about a fault with the truth: the rule, and the smallest configuration. */
#include <stdio.h>
#include <string.h>

#include "plant_run.h"
#include "plant_steps.h"

/* Half of the draws are inside the truth, if so many are found. A rule that never holds would agree with a
 * rare condition nearly everywhere. */
struct plant_agreement plant_rule_agreement(const struct plant *plant, const struct plant_field *field,
                                            const char *rule, int draws)
{
    enum { TRIES_EACH = 40 };
    char why[256];
    int made[2] = {0}, agreed[2] = {0}, inside = 0; /* by the rule's answer */
    struct config config;
    struct pcg *pcg = pcg_new(plant->seed, "plant/rule");
    struct condition *said = pcg ? condition_parse(plant->problem, rule, why, sizeof why) : NULL;
    for (int tries = 0; said && made[0] + made[1] < draws && tries < draws * TRIES_EACH; tries++) {
        if (!plant_random_config(field, pcg, &config))
            break;
        const bool truth = plant_may_show(plant, &config);
        if (truth && plant->by_bits && !plant_must_show(plant, &config)) /* the truth is unknown there */
            continue;
        if (truth ? inside >= draws / 2 : made[0] + made[1] - inside >= draws / 2)
            continue;
        const bool holds = condition_holds(said, &config);
        made[holds]++;
        inside += truth;
        agreed[holds] += holds == truth;
    }
    condition_free(said);
    pcg_free(pcg);
    if (made[0] + made[1] == 0)
        return (struct plant_agreement){-1, -1, -1};
    return (struct plant_agreement){(double)(agreed[0] + agreed[1]) / (made[0] + made[1]),
                                    made[1] > 0 ? (double)agreed[1] / made[1] : 1,
                                    made[0] > 0 ? (double)agreed[0] / made[0] : 1};
}

bool plant_is_minimal(const struct plant *plant, const struct plant_field *field, const struct config *config,
                      struct config *step)
{
    struct config steps[PLANT_STEPS];
    const int count = plant_steps(&field->space, config, steps);
    for (int i = 0; i < count; i++)
        if (plant_must_show(plant, &steps[i])) {
            *step = steps[i];
            return false;
        }
    return true;
}
