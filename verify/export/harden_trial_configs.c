#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harden_trial.h"
#include "gen/contract/instantiate.h"

enum { TILE = 64, DIRECTED_MOST = 32, PATTERNS = 24 };

static double cost_of(const struct config *config, struct instance *measured)
{
    instance_clear(measured);
    if (config_measure(config, measured) != 0)
        return -1;
    const double bytes = instance_total_bytes(config->problem, measured);
    const double cost = bytes + measured->flops;
    return cost > 1 ? cost : 1;
}

static bool has_point(const struct trial_configs *list, const struct config *config, const char *input)
{
    for (int i = 0; i < list->count; i++)
        if (config_same_point(&list->item[i].config, config) && strcmp(list->item[i].input, input) == 0)
            return true;
    return false;
}

static int add(struct trial_configs *list, const struct config *config, const char *input, const char *why)
{
    struct instance measured = {0};
    if (list->count == list->capacity) {
        const int capacity = list->capacity ? 2 * list->capacity : 64;
        struct trial_config *grown = realloc(list->item, (size_t)capacity * sizeof *grown);
        if (!grown)
            return -1;
        list->item = grown;
        list->capacity = capacity;
    }
    struct trial_config *item = &list->item[list->count];
    *item = (struct trial_config){.config = *config, .cost = cost_of(config, &measured)};
    instance_clear(&measured);
    if (item->cost < 0)
        return -1;
    snprintf(item->input, sizeof item->input, "%s", input);
    snprintf(item->why, sizeof item->why, "%s", why);
    list->count++;
    return 0;
}

static const char *class_of(const struct config *config)
{
    const int axis = problem_input_axis(config->problem);
    return problem_choice(config->problem, axis, (int)config->value[axis]);
}

static int add_drawn(struct trial_configs *list, const struct drawn_list *drawn)
{
    for (int i = 0; i < drawn->count; i++)
        if (add(list, &drawn->item[i].config, class_of(&drawn->item[i].config), drawn->item[i].why) != 0)
            return -1;
    return 0;
}

/* --- configurations that drawing might miss --- */

/* Does the contract allow real numbers of any sign? */
static int class_named(const struct task *task, const char *name)
{
    const int axis = problem_input_axis(task->problem);
    const struct domain *domain = &task->space.domain[axis];
    for (int i = 0; i < domain->value_count; i++)
        if (strcmp(problem_choice(task->problem, axis, (int)domain->value[i]), name) == 0)
            return (int)domain->value[i];
    return -1;
}

static bool fits(const struct task *task, const struct config *config)
{
    struct instance measured = {0};
    bool ok = space_contains(&task->space, config, NULL) && config_measure(config, &measured) == 0;
    ok = ok &&
         (task->caps.bytes <= 0 || instance_total_bytes(config->problem, &measured) <= task->caps.bytes) &&
         (task->caps.flops <= 0 || measured.flops <= task->caps.flops);
    instance_clear(&measured);
    return ok;
}

/* Puts every numeric axis `beside` a multiple of the tile; bit i of `pattern` says whether axis i is above
 * it. */
static bool place_beside(const struct task *task, int beside, unsigned pattern, struct config *config)
{
    int number = 0;
    for (int i = 0; task->problem->axes[i].name; i++) {
        if (task->problem->axes[i].kind != AXIS_NUMBER)
            continue;
        const struct domain *domain = &task->space.domain[i];
        const int64_t wanted = (int64_t)(pattern >> number++ & 1) * 2 * TILE + beside;
        config->value[i] = domain_contains(domain, wanted) ? wanted
                           : wanted < domain_least(domain) ? domain_least(domain)
                                                           : config->value[i];
    }
    return fits(task, config);
}

static int add_directed(struct trial_configs *list, const struct task *task, const struct config *base)
{
    static const int besides[] = {1, 63, 17, 15, 5};
    static const char *const inputs[] = {"signed", "small", "large", "wide", "needle", "integers"};
    const bool real = class_named(task, "signed") >= 0;
    int added = 0, turn = 0;
    for (unsigned pattern = 0; pattern < PATTERNS && added < DIRECTED_MOST; pattern++)
        for (int k = 0; k < 5 && added < DIRECTED_MOST; k++) {
            struct config config = *base;
            const char *const input = real ? inputs[turn % 6] : class_of(base);
            const int class = class_named(task, input);
            char why[TRIAL_WHY];
            if (class >= 0 || real)
                config.value[problem_input_axis(task->problem)] =
                    class >= 0 ? class : class_named(task, "signed");
            /* Gray code: adjacent patterns differ in one axis, so few of them cover most combinations */
            if (!place_beside(task, besides[k], pattern ^ pattern >> 1, &config) ||
                has_point(list, &config, input))
                continue;
            config.seed = (base->seed + 977 * (unsigned)(added + 1)) & 0x7fffffff;
            snprintf(why, sizeof why, "directed: axes %d beside multiples of %d, input %s", besides[k], TILE,
                     input);
            if (add(list, &config, input, why) != 0)
                return -1;
            added++;
            turn++;
        }
    return 0;
}

int trial_take(struct trial *trial, const struct task *task, bool directed)
{
    memset(trial, 0, sizeof *trial);
    trial->task = task;
    if (add_drawn(&trial->seen, &task->seen_set) != 0 || add_drawn(&trial->drawn, &task->unseen_set) != 0)
        return -1;
    if (!directed || trial->seen.count == 0)
        return 0;
    for (int i = 0; i < trial->seen.count; i++) /* with other weights and tolerances they may be useful */
        if (add(&trial->drawn, &trial->seen.item[i].config, trial->seen.item[i].input, "published") != 0)
            return -1;
    struct config base = trial->seen.item[0].config;
    return add_directed(&trial->drawn, task, &base);
}

void trial_clear(struct trial *trial)
{
    free(trial->seen.item);
    free(trial->drawn.item);
    free(trial->row);
    json_decref(trial->answer);
    memset(trial, 0, sizeof *trial);
}
