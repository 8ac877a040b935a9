/* What the tool says about a fault, held against the truth: the rule, and the smallest configuration. */
#include <stdio.h>
#include <string.h>

#include "plant_run.h"
#include "plant_steps.h"

/* Half of the draws inside the truth as far as they are found: a rule that never holds would agree with
 * a rare condition nearly everywhere. */
double plant_rule_agreement(const struct plant *plant, const struct plant_field *field, const char *rule,
                            int draws)
{
    enum { TRIES_EACH = 40 };
    char why[256];
    int made = 0, agreed = 0, inside = 0;
    struct config config;
    struct pcg *pcg = pcg_new(plant->seed, "plant/rule");
    struct condition *said = pcg ? condition_parse(plant->problem, rule, why, sizeof why) : NULL;
    for (int tries = 0; said && made < draws && tries < draws * TRIES_EACH; tries++) {
        if (!plant_random_config(field, pcg, &config))
            break;
        const bool truth = plant_may_show(plant, &config);
        if (truth ? inside >= draws / 2 : made - inside >= draws / 2)
            continue;
        made++;
        inside += truth;
        agreed += condition_holds(said, &config) == truth;
    }
    condition_free(said);
    pcg_free(pcg);
    return made > 0 ? (double)agreed / made : -1;
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
