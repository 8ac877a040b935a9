/* Before any rule is searched, runs the simplest failure with each axis one step smaller, if it is not at its
 * least. If the result passes, the rule must name this axis. These runs cost least. */
#include "explain_internal.h"

enum { TRIES = 2 }; /* a single pass may be due to chance */

static bool is_least(const struct explainer *ex, const struct config *config, int axis)
{
    const struct domain *domain = &ex->space->domain[axis];
    return domain_is_number(ex->space, axis) ? config->value[axis] <= domain_least(domain)
                                             : config->value[axis] == domain->value[0];
}

int simplest_failure(const struct explainer *ex)
{
    int best = -1, most = 0, least = 0;
    for (int t = 0; t < ex->trials; t++) {
        const int bits = pool_size_bits(ex->space, &ex->config[t]);
        int axes = 0;
        for (int i = 0; ex->space->problem->axes[i].name; i++)
            axes += is_least(ex, &ex->config[t], i);
        if (bit_of(ex->fails, t) && (best < 0 || axes > most || (axes == most && bits < least))) {
            best = t;
            most = axes;
            least = bits;
        }
    }
    return best;
}

/* Returns the value less one; for a list or a choice, the previous value. */
static int64_t value_before(const struct explainer *ex, const struct config *config, int axis)
{
    const struct domain *domain = &ex->space->domain[axis];
    int64_t before = config->value[axis] - 1;
    for (int i = 0; i < domain->value_count && domain->value[i] != config->value[axis]; i++)
        before = domain->value[i];
    return before;
}

/* Runs the configuration. The result is kept if it fails, or if it passes with two seeds. */
static void probe(struct explainer *ex, struct config *config)
{
    for (int i = 0; i < TRIES && explainer_may_run(ex); i++) {
        config->seed = draw_config_seed(ex->stream);
        const int result = explainer_run(ex, config);
        if (result < 0)
            return;
        if (result == 1 || i + 1 == TRIES) {
            explainer_learn(ex, config, result == 1);
            return;
        }
    }
}

void probe_simplest(struct explainer *ex)
{
    const int from = simplest_failure(ex);
    for (int i = 0; from >= 0 && ex->space->problem->axes[i].name; i++) {
        struct config config = ex->config[from];
        if (is_least(ex, &config, i))
            continue;
        config.value[i] = value_before(ex, &config, i);
        if (pool_affords(ex, NULL, &config))
            probe(ex, &config);
    }
}
