#include "oracle_quality.h"

#include <string.h>

static const struct {
    const char *name, *meaning;
} labels[] = {
    {"enclosed", "expected values and error bounds are proved"},
    {"fp64", "error bounds are proved; expected values are computed in fp64"},
    {"ensemble", "error bounds are calibrated on runs with injected errors"},
};
enum { LABELS = sizeof labels / sizeof *labels };

static int label_of(const struct oracle_quality *told)
{
    return told->ensemble ? 2 : told->fp64 ? 1 : 0;
}

const char *oracle_quality_label(const struct oracle_quality *told)
{
    return told->present ? labels[label_of(told)].name : NULL;
}

bool oracle_quality_brief(const struct result *result, char *text, size_t size)
{
    int count[LABELS + 1] = {0}, all = 0;
    size_t used = 0;
    for (int i = 0; i < result->result_count; i++) {
        const struct config_result *config = &result->results[i];
        const bool untold = config->reason.cause == CAUSE_NO_REFERENCE;
        if (config->oracle_quality.present || untold)
            count[untold ? LABELS : label_of(&config->oracle_quality)]++, all++;
    }
    text[0] = '\0';
    for (int i = 0; i <= LABELS && used < size; i++) {
        const char *const name = i < LABELS ? labels[i].name : "none known";
        if (count[i] && used)
            used += (size_t)snprintf(text + used, size - used, ", %s in %d", name, count[i]);
        else if (count[i])
            used = (size_t)snprintf(text, size, "%s in %d of %d configurations", name, count[i], all);
    }
    return all > 0;
}

bool oracle_quality_line(const struct result *result, char *text, size_t size)
{
    int count[LABELS] = {0}, constant = 0, open = 0, untold = 0, all = 0;
    size_t used = 0;
    for (int i = 0; i < result->result_count; i++) {
        const struct config_result *config = &result->results[i];
        untold += config->reason.cause == CAUSE_NO_REFERENCE;
        if (!config->oracle_quality.present)
            continue;
        all++;
        count[label_of(&config->oracle_quality)]++;
        constant += config->oracle_quality.constant;
        open += config->oracle_quality.open;
    }
    text[0] = '\0';
    for (int i = 0; i < LABELS && used < size; i++)
        if (count[i])
            used += (size_t)snprintf(text + used, size - used, "%s%s in %d of %d (%s)", used ? ", " : "",
                                     labels[i].name, count[i], all, labels[i].meaning);
    if (constant && used < size)
        used += (size_t)snprintf(text + used, size - used,
                                 "; in %d the right answer does not depend on the inputs", constant);
    if (open && used < size)
        used += (size_t)snprintf(text + used, size - used,
                                 "; in %d a few elements depend on a tie that may go either way, and are not "
                                 "judged",
                                 open);
    if (untold && used < size)
        snprintf(text + used, size - used, "%s%d left out, since their right answer is not known",
                 used ? "; " : "", untold);
    return all + untold > 0;
}
