/* Parts of parsed expressions. */
#include "constraint.h"

#include <stdlib.h>
#include <string.h>

#include "constraint_internal.h"

static bool depends(const struct derived *derived, const char *axis)
{
    for (const char *const *name = derived->axes; *name; name++)
        if (strcmp(*name, axis) == 0)
            return true;
    return false;
}

bool expression_depends_on(const struct constraint *expression, const struct problem *problem, int axis)
{
    bool found = constraint_mentions(expression, axis);
    for (int i = 0; problem->derived && problem->derived[i].name; i++)
        found = found || (constraint_mentions_derived(expression, i) &&
                          depends(&problem->derived[i], problem->axes[axis].name));
    return found;
}

/* Returns the steps from..from+count as an expression of their own. */
static struct constraint *copy_steps(const struct constraint *expression, int from, int count)
{
    struct constraint *const part = calloc(1, sizeof *part);
    if (!part)
        return NULL;
    part->count = count;
    memcpy(part->step, expression->step + from, (size_t)count * sizeof *part->step);
    part->text = strdup(expression->text);
    if (part->text)
        return part;
    free(part);
    return NULL;
}

struct constraint *expression_before_remainder(const struct constraint *expression, int64_t *number)
{
    const int count = expression->count;
    if (count < 3 || expression->step[count - 1].op != OP_REMAINDER ||
        expression->step[count - 2].op != OP_NUMBER)
        return NULL;
    *number = expression->step[count - 2].operand;
    return copy_steps(expression, 0, count - 2);
}

/* Returns how many values the steps leave on the stack; -1: they need more than they push. */
static int depth_of(const struct step *step, int count)
{
    int depth = 0;
    for (int i = 0; i < count; i++) {
        const enum op op = step[i].op;
        if (op == OP_NUMBER || op == OP_AXIS || op == OP_DERIVED)
            depth++;
        else if (op != OP_NEGATE)
            depth--;
        if (depth < 1)
            return -1;
    }
    return depth;
}

struct constraint *expression_after_factor(const struct constraint *expression, int64_t *number)
{
    const int count = expression->count;
    if (count < 3 || expression->step[count - 1].op != OP_MULTIPLY)
        return NULL;
    if (expression->step[0].op == OP_NUMBER && depth_of(expression->step + 1, count - 2) == 1) {
        *number = expression->step[0].operand;
        return copy_steps(expression, 1, count - 2);
    }
    if (expression->step[count - 2].op != OP_NUMBER)
        return NULL;
    *number = expression->step[count - 2].operand;
    return copy_steps(expression, 0, count - 2);
}
