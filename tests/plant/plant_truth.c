/* What the tool says about a fault, held against the truth: the rule, and the smallest configuration. */
#include <stdio.h>
#include <string.h>

#include "plant_run.h"

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

static bool still_shows(const struct plant *plant, const struct plant_field *field,
                        const struct config *config, int axis, int64_t value, struct config *step)
{
    *step = *config;
    step->value[axis] = value;
    return value < config->value[axis] && space_contains(&field->space, step, NULL) &&
           plant_must_show(plant, step);
}

static bool number_shrinks(const struct plant *plant, const struct plant_field *field,
                           const struct config *config, int axis, struct config *step)
{
    const struct domain *domain = &field->space.domain[axis];
    const int64_t value = config->value[axis];
    for (int i = 0; i < domain->value_count; i++)
        if (still_shows(plant, field, config, axis, domain->value[i], step))
            return true;
    for (int i = 0; domain->value_count == 0 && i < domain->tile_count; i++)
        if (still_shows(plant, field, config, axis, value / domain->tile[i] * domain->tile[i], step))
            return true;
    return domain->value_count == 0 && (still_shows(plant, field, config, axis, domain->low, step) ||
                                        still_shows(plant, field, config, axis, value / 2, step) ||
                                        still_shows(plant, field, config, axis, value - 1, step));
}

/* Earlier in the contract's own order is simpler. */
static bool choice_shrinks(const struct plant *plant, const struct plant_field *field,
                           const struct config *config, int axis, struct config *step)
{
    const struct domain *domain = &field->space.domain[axis];
    for (int i = 0; i < domain->value_count && domain->value[i] != config->value[axis]; i++) {
        *step = *config;
        step->value[axis] = domain->value[i];
        if (space_contains(&field->space, step, NULL) && plant_must_show(plant, step))
            return true;
    }
    return false;
}

bool plant_is_minimal(const struct plant *plant, const struct plant_field *field, const struct config *config,
                      struct config *step)
{
    for (int i = 0; plant->problem->axes[i].name; i++) {
        const bool number = plant->problem->axes[i].kind == AXIS_NUMBER;
        if (number ? number_shrinks(plant, field, config, i, step)
                   : choice_shrinks(plant, field, config, i, step))
            return false;
    }
    return true;
}
