/* Makes inputs that only the task's own code can make, by a registered callback. */
#include <stdio.h>

#include "task_internal.h"

static imported_maker *made_by;
static char trouble[1300];
static bool only_here;

void imported_made_by(imported_maker *maker)
{
    made_by = maker;
}

const char *imported_trouble(bool *here)
{
    *here = only_here;
    return trouble;
}

bool imported_computes(const struct imported *task)
{
    bool computes = false;
    for (int i = 0; task->classes[i].name; i++)
        for (int t = 0; task->tensors[t].name; t++)
            computes = computes || task->fill[i][t].drawn == TASK_COMPUTED;
    return computes;
}

int imported_make(const struct problem *problem, const struct instance *instance,
                  const struct imported_wish *wish, int32_t **given)
{
    int status = -1;
    snprintf(trouble, sizeof trouble,
             "the task computes some of its inputs, and nothing here runs its get_inputs\n---> verify, "
             "check, shrink and export do");
    if (made_by)
        status = made_by(problem, instance, wish, given, trouble, sizeof trouble);
    if (status == 0)
        *trouble = '\0';
    only_here = status == 1;
    return status == 0 ? 0 : -1;
}
