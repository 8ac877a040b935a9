/* Rules and the limits of a contract. */
#include <string.h>

#include "fuzz.h"
#include "gen/contract/condition.h"
#include "gen/contract/constraint.h"

/* Small ones: sizes that derive from another one are drawn for it. */
static void make_config(struct config *config, const struct problem *problem, int64_t number)
{
    *config = (struct config){.problem = problem, .seed = 1};
    for (int i = 0; problem->axes[i].name; i++)
        config->value[i] = problem->axes[i].kind == AXIS_NUMBER ? number : 0;
}

static bool names_size(const struct problem *problem, const char *text)
{
    for (int i = 0; problem->derived && problem->derived[i].name; i++)
        if (strstr(text, problem->derived[i].name))
            return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int64_t numbers[] = {1, 7, 64, INT64_MAX};
    char why[200] = "";
    const struct problem *problem = fuzz_problem(&data, &size);
    char *text = fuzz_text(data, size);
    struct condition *condition = condition_parse(problem, text, why, sizeof why);
    struct constraint *constraint = constraint_parse(problem, text, why, sizeof why);
    FUZZ_CHECK((condition && constraint) || *why);
    /* Drawing a problem's sizes needs shapes that its contract allows, and these are not. */
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && !names_size(problem, text); i++) {
        struct config config;
        make_config(&config, problem, numbers[i]);
        const bool holds = condition && condition_holds(condition, &config);
        if (constraint && condition)
            FUZZ_CHECK(holds == constraint_holds(constraint, &config));
    }
    condition_free(condition);
    constraint_free(constraint);
    free(text);
    return 0;
}
