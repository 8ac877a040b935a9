/* The value of a constraint or an expression at a configuration. */
#include "constraint.h"

#include "constraint_internal.h"
#include "instantiate.h"

int64_t constraint_multiply(int64_t a, int64_t b)
{
    int64_t product;
    if (!__builtin_mul_overflow(a, b, &product))
        return product;
    return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
}

int64_t constraint_add(int64_t a, int64_t b)
{
    int64_t sum;
    if (!__builtin_add_overflow(a, b, &sum))
        return sum;
    return a < 0 ? INT64_MIN : INT64_MAX;
}

int64_t constraint_subtract(int64_t a, int64_t b)
{
    int64_t difference;
    if (!__builtin_sub_overflow(a, b, &difference))
        return difference;
    return a < 0 ? INT64_MIN : INT64_MAX;
}

static bool power(int64_t base, int64_t exponent, int64_t *result)
{
    if (exponent < 0)
        return false;
    /* any base but 0, 1 and -1 has saturated by now; -1 needs the parity of the exponent */
    if (exponent > 64)
        exponent = 64 + exponent % 2;
    *result = 1;
    while (exponent-- > 0)
        *result = constraint_multiply(*result, base);
    return true;
}

static bool divide(enum op op, int64_t a, int64_t b, int64_t *result)
{
    if (b == 0)
        return false;
    if (b == -1) /* INT64_MIN / -1 traps */
        *result = op == OP_DIVIDE ? constraint_subtract(0, a) : 0;
    else
        *result = op == OP_DIVIDE ? a / b : a % b;
    return true;
}

static int64_t gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = 0;
        divide(OP_REMAINDER, a, b, &rest);
        a = b;
        b = rest;
    }
    return a < 0 ? constraint_subtract(0, a) : a;
}

static bool apply(enum op op, int64_t a, int64_t b, int64_t *result)
{
    switch (op) {
    case OP_POWER: return power(a, b, result);
    case OP_DIVIDE:
    case OP_REMAINDER: return divide(op, a, b, result);
    case OP_MULTIPLY: *result = constraint_multiply(a, b); return true;
    case OP_ADD: *result = constraint_add(a, b); return true;
    case OP_SUBTRACT: *result = constraint_subtract(a, b); return true;
    case OP_LE: *result = a <= b; return true;
    case OP_GE: *result = a >= b; return true;
    case OP_EQ: *result = a == b; return true;
    case OP_NE: *result = a != b; return true;
    case OP_LT: *result = a < b; return true;
    case OP_GT: *result = a > b; return true;
    case OP_GCD: *result = gcd(a, b); return true;
    default: return false;
    }
}

/* Is the value below the topmost `members` numbers of the stack one of them? */
static bool is_member(const int64_t *value, int64_t members)
{
    for (int64_t i = 1; i <= members; i++)
        if (value[i] == *value)
            return true;
    return false;
}

static bool evaluate(const struct constraint *constraint, const struct config *config, int64_t *value)
{
    int64_t stack[CONSTRAINT_MAX_STEPS];
    int top = 0;
    for (int i = 0; i < constraint->count; i++) {
        const struct step *step = &constraint->step[i];
        if (step->op == OP_NUMBER) {
            stack[top++] = step->operand;
        } else if (step->op == OP_AXIS) {
            stack[top++] = config->value[step->operand];
        } else if (step->op == OP_DERIVED) {
            stack[top++] = config_derived(config, (int)step->operand);
        } else if (step->op == OP_NEGATE) {
            stack[top - 1] = constraint_subtract(0, stack[top - 1]);
        } else if (step->op == OP_POW2) {
            stack[top - 1] = stack[top - 1] > 0 && (stack[top - 1] & (stack[top - 1] - 1)) == 0;
        } else if (step->op == OP_NOT) {
            stack[top - 1] = !stack[top - 1];
        } else if (step->op == OP_IN) {
            top -= (int)step->operand;
            stack[top - 1] = is_member(&stack[top - 1], step->operand);
        } else {
            top--;
            if (!apply(step->op, stack[top - 1], stack[top], &stack[top - 1]))
                return false;
        }
    }
    *value = stack[0];
    return true;
}

bool constraint_holds(const struct constraint *constraint, const struct config *config)
{
    int64_t value;
    return evaluate(constraint, config, &value) && value != 0;
}

bool expression_value(const struct constraint *expression, const struct config *config, int64_t *value)
{
    return evaluate(expression, config, value);
}
