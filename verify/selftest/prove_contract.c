/* Checks a definition before anything runs: judgements, the contract, the seen sets. */
#include <stdlib.h>
#include <string.h>

#include "gen/contract/instantiate.h"
#include "prove_internal.h"

static void list_judgements(struct proof *p)
{
    int missing;
    p->judgements = reference_list(p->problem, p->judgement, &missing);
    prove_ask(p, PROVE_DEFINITION, p->judgements);
    if (missing >= 0)
        prove_fail(p, PROVE_DEFINITION, NULL,
                   "a judgement of every output: reference.h for the first, reference_OUTPUT.h and a "
                   "JUDGED entry in the registry for another",
                   "none of the output %s", p->problem->tensors[missing].name);
    else if (p->judgements == 0)
        prove_fail(p, PROVE_DEFINITION, NULL, "at least one output", "no tensor that a candidate writes");
}

static bool read_contract(struct proof *p)
{
    struct space_error error;
    char path[1024];
    folder_shape(p->problem, "space", path, sizeof path);
    if (space_read(&p->space, p->problem, p->options->space ? p->options->space : path, &error) != 0)
        return prove_break(p, error.environment ? PROVE_ENVIRONMENT : PROVE_INPUT, "%s", error.text);
    return true;
}

/* A line that does not parse, or violates the contract, is an error of the definition. */
static void read_seen(struct proof *p, const char *ending, struct config_list *list, bool optional)
{
    struct space_error error;
    char path[1024];
    const bool found = folder_shape(p->problem, ending, path, sizeof path) == 0;
    if (optional && (!found || p->options->seen))
        return;
    if (p->options->seen)
        snprintf(path, sizeof path, "%s", p->options->seen);
    if (config_list_read(list, &p->space, path, false, &error) != 0) {
        prove_fail(p, PROVE_SEEN, NULL, "lines that parse, each inside the contract", "%s", error.text);
        config_list_clear(list);
    } else if (list->count == 0) {
        prove_fail(p, PROVE_SEEN, NULL, "at least one configuration", "none in %s", path);
    }
}

static bool measure_seen(struct proof *p, const struct config_list *list, bool host)
{
    struct prove_report *r = p->report;
    struct prove_seen *grown = realloc(r->seen, (size_t)(r->seen_count + list->count + 1) * sizeof *r->seen);
    if (!grown)
        return prove_broke(p, "the seen set", -1);
    r->seen = grown;
    for (int i = 0; i < list->count; i++) {
        struct instance instance;
        if (config_measure(&list->item[i], &instance) != 0)
            return prove_broke(p, "measuring the seen set", -1);
        prove_ask(p, PROVE_SEEN, 1);
        if (!(instance.flops > 0 && instance.bytes > 0))
            prove_fail(p, PROVE_SEEN, &list->item[i], "flops and bytes above 0", "%g flops, %g bytes",
                       instance.flops, instance.bytes);
        r->seen[r->seen_count++] = (struct prove_seen){list->item[i], host, instance.flops, instance.bytes};
        instance_clear(&instance);
    }
    return true;
}

/* A class that no configuration can have is never drawn. */
static void reach_classes(struct proof *p)
{
    const int axis = problem_input_axis(p->problem);
    for (int c = 0; axis >= 0 && p->problem->classes[c].name; c++) {
        p->classes++;
        prove_ask(p, PROVE_DEFINITION, 1);
        if (!domain_contains(&p->space.domain[axis], c))
            prove_fail(p, PROVE_DEFINITION, NULL, "every input class among the contract's",
                       "the class %s is never drawn: the axis %s of the .space file lacks it",
                       p->problem->classes[c].name, p->problem->axes[axis].name);
    }
}

bool prove_contract(struct proof *p)
{
    prove_progress(p, "definition", 0, 0);
    list_judgements(p);
    if (!read_contract(p))
        return false;
    reach_classes(p);
    prove_says(p, PROVE_DEFINITION, "judgements and input classes");
    read_seen(p, "seen", &p->seen, false);
    read_seen(p, "host.seen", &p->host_seen, true);
    prove_says(p, PROVE_SEEN, "configurations");
    return measure_seen(p, &p->seen, false) && measure_seen(p, &p->host_seen, true);
}
