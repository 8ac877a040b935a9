#include "constraint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "constraint_internal.h"
#include "space_internal.h"

struct parser {
    const struct problem *problem;
    const char *p;
    struct constraint *constraint;
    bool derived; /* in a condition's term: derived sizes, functions and sets are allowed */
    int depth;    /* nesting of parentheses, signs and powers; its limit bounds the recursion */
    char *why;
    size_t size;
};

struct spelling {
    const char *text;
    enum op op;
};
static const struct spelling comparisons[] =
    {/* longer operators before their prefixes */
     {"<=", OP_LE}, {">=", OP_GE}, {"==", OP_EQ}, {"!=", OP_NE}, {"<", OP_LT}, {">", OP_GT}, {0}};
static const struct spelling sums[] = {{"+", OP_ADD}, {"-", OP_SUBTRACT}, {0}};
static const struct spelling products[] = {{"*", OP_MULTIPLY}, {"/", OP_DIVIDE}, {"%", OP_REMAINDER}, {0}};

static bool fail(struct parser *parser, const char *expected)
{
    if (*parser->p)
        snprintf(parser->why, parser->size, "found '%.40s'; expected %s", parser->p, expected);
    else
        snprintf(parser->why, parser->size, "the limit ends early; expected %s", expected);
    return false;
}

static bool emit(struct parser *parser, enum op op, int64_t operand)
{
    if (parser->constraint->count == CONSTRAINT_MAX_STEPS)
        return fail(parser, "a shorter limit");
    parser->constraint->step[parser->constraint->count++] = (struct step){op, operand};
    return true;
}

/* Reads one of the operators in `list`; NULL if none comes next. */
static const struct spelling *read_operator(struct parser *parser, const struct spelling *list)
{
    parser->p = text_skip(parser->p);
    for (; list->text; list++) {
        size_t length = strlen(list->text);
        if (strncmp(parser->p, list->text, length) == 0) {
            parser->p += length;
            return list;
        }
    }
    return NULL;
}

static bool parse_sum(struct parser *parser);

static bool fail_name(struct parser *parser, bool derived)
{
    if (derived)
        return fail(parser, "axes only: a rule may name this size, a contract cannot, since it is drawn");
    return fail(parser, parser->derived && parser->problem->derived
                            ? "a number, the name of a number axis or of a derived size, or '('"
                            : "a number, the name of a number axis or '('");
}

static size_t name_length(const char *text)
{
    return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
}

/* Reads `word` if it is not part of a longer name. */
static bool read_word(struct parser *parser, const char *word)
{
    const size_t length = strlen(word);
    parser->p = text_skip(parser->p);
    if (strncmp(parser->p, word, length) != 0 || name_length(parser->p) != length)
        return false;
    parser->p += length;
    return true;
}

static bool read_sign(struct parser *parser, char sign, const char *expected)
{
    parser->p = text_skip(parser->p);
    if (*parser->p != sign)
        return fail(parser, expected);
    parser->p++;
    return true;
}

static bool is_function(const char *text, const char *name)
{
    const size_t length = strlen(name);
    return strncmp(text, name, length) == 0 && name_length(text) == length &&
           *text_skip(text + length) == '(';
}

/* Parses gcd(a, b) or pow2(a), as `op` says. */
static bool parse_function(struct parser *parser, enum op op)
{
    if (++parser->depth > CONSTRAINT_MAX_DEPTH)
        return fail(parser, "fewer nested parentheses, signs and powers");
    parser->p = strchr(parser->p, '(') + 1;
    if (!parse_sum(parser) ||
        (op == OP_GCD && (!read_sign(parser, ',', "',' and a second number") || !parse_sum(parser))) ||
        !read_sign(parser, ')', "an operator or ')'"))
        return false;
    parser->depth--;
    return emit(parser, op, 0);
}

static bool parse_name(struct parser *parser)
{
    const char *start = parser->p;
    char name[WORD_SIZE];
    if (parser->derived && is_function(start, "gcd"))
        return parse_function(parser, OP_GCD);
    if (parser->derived && is_function(start, "pow2"))
        return parse_function(parser, OP_POW2);
    size_t length = name_length(start);
    if (length == 0 || length >= sizeof name)
        return fail_name(parser, false);
    memcpy(name, start, length); /* text_word does not fit: here '-' is an operator */
    name[length] = '\0';
    const int axis = problem_axis_index(parser->problem, name);
    const int derived = problem_derived_index(parser->problem, name);
    const bool number = axis >= 0 && parser->problem->axes[axis].kind == AXIS_NUMBER;
    if (!number && (derived < 0 || !parser->derived))
        return fail_name(parser, derived >= 0);
    parser->p += length;
    return emit(parser, number ? OP_AXIS : OP_DERIVED, number ? axis : derived);
}

static bool parse_primary(struct parser *parser)
{
    parser->p = text_skip(parser->p);
    if (*parser->p >= '0' && *parser->p <= '9') {
        char *end;
        unsigned long long number = strtoull(parser->p, &end, 10);
        if (number > INT64_MAX)
            return fail(parser, "a number below 2^63");
        parser->p = end;
        return emit(parser, OP_NUMBER, (int64_t)number);
    }
    if (*parser->p != '(')
        return parse_name(parser);
    parser->p++;
    if (!parse_sum(parser))
        return false;
    parser->p = text_skip(parser->p);
    if (*parser->p != ')')
        return fail(parser, "an operator or ')'");
    parser->p++;
    return true;
}

static bool parse_signed(struct parser *parser)
{
    bool done;
    if (++parser->depth > CONSTRAINT_MAX_DEPTH)
        return fail(parser, "fewer nested parentheses, signs and powers");
    parser->p = text_skip(parser->p);
    if (*parser->p == '-') {
        parser->p++;
        done = parse_signed(parser) && emit(parser, OP_NEGATE, 0);
    } else {
        done = parse_primary(parser);
        parser->p = text_skip(parser->p);
        if (done && *parser->p == '^') { /* a^b^c is a^(b^c), and -a^b is -(a^b) */
            parser->p++;
            done = parse_signed(parser) && emit(parser, OP_POWER, 0);
        }
    }
    parser->depth--;
    return done;
}

static bool parse_product(struct parser *parser)
{
    const struct spelling *found;
    if (!parse_signed(parser))
        return false;
    while ((found = read_operator(parser, products)))
        if (!parse_signed(parser) || !emit(parser, found->op, 0))
            return false;
    return true;
}

static bool parse_sum(struct parser *parser)
{
    const struct spelling *found;
    if (!parse_product(parser))
        return false;
    while ((found = read_operator(parser, sums)))
        if (!parse_product(parser) || !emit(parser, found->op, 0))
            return false;
    return true;
}

/* Parses the set of `in`: {8, 24}. */
static bool parse_set(struct parser *parser)
{
    int members = 0;
    if (!read_sign(parser, '{', "'{' and the members of a set"))
        return false;
    do {
        if (!parse_sum(parser))
            return false;
        members++;
        parser->p = text_skip(parser->p);
    } while (*parser->p == ',' && parser->p++);
    return read_sign(parser, '}', "',' or '}'") && emit(parser, OP_IN, members);
}

static bool is_truth(const struct parser *parser)
{
    const struct constraint *constraint = parser->constraint;
    return constraint->count > 0 && constraint->step[constraint->count - 1].op == OP_POW2;
}

/* Parses the rest after the first expression: a comparison; in a condition also `in {..}`, `not in {..}`, or
 * nothing after pow2(..). */
static bool parse_relation(struct parser *parser)
{
    const struct spelling *found = read_operator(parser, comparisons);
    if (found)
        return parse_sum(parser) && emit(parser, found->op, 0);
    if (parser->derived && read_word(parser, "in"))
        return parse_set(parser);
    if (parser->derived && read_word(parser, "not"))
        return (read_word(parser, "in") || fail(parser, "'in'")) && parse_set(parser) &&
               emit(parser, OP_NOT, 0);
    return is_truth(parser) || fail(parser, "an operator or a comparison (<= >= < > == !=)");
}

static bool parse_comparison(struct parser *parser)
{
    const bool negated = parser->derived && read_word(parser, "not");
    if (!parse_sum(parser))
        return false;
    if (!parse_relation(parser) || (negated && !emit(parser, OP_NOT, 0)))
        return false;
    parser->p = text_skip(parser->p);
    return *parser->p ? fail(parser, "the end of the limit: one comparison a line") : true;
}

static bool parse_expression(struct parser *parser)
{
    if (!parse_sum(parser))
        return false;
    parser->p = text_skip(parser->p);
    return *parser->p ? fail(parser, "an operator or the end of the expression") : true;
}

typedef bool grammar(struct parser *parser);

static struct constraint *parse(const struct problem *problem, const char *text, grammar *whole, bool derived,
                                char *why, size_t size)
{
    struct constraint *constraint = calloc(1, sizeof *constraint);
    struct parser parser = {.problem = problem,
                            .p = text,
                            .constraint = constraint,
                            .derived = derived,
                            .why = why,
                            .size = size};
    if (!constraint || !(constraint->text = strdup(text))) {
        snprintf(why, size, "out of memory");
    } else if (whole(&parser)) {
        return constraint;
    }
    constraint_free(constraint);
    return NULL;
}

struct constraint *constraint_parse(const struct problem *problem, const char *text, char *why, size_t size)
{
    return parse(problem, text, parse_comparison, false, why, size);
}

struct constraint *constraint_parse_derived(const struct problem *problem, const char *text, char *why,
                                            size_t size)
{
    return parse(problem, text, parse_comparison, true, why, size);
}

struct constraint *expression_parse(const struct problem *problem, const char *text, char *why, size_t size)
{
    return parse(problem, text, parse_expression, false, why, size);
}

struct constraint *expression_parse_derived(const struct problem *problem, const char *text, char *why,
                                            size_t size)
{
    return parse(problem, text, parse_expression, true, why, size);
}

void constraint_free(struct constraint *constraint)
{
    if (constraint)
        free(constraint->text);
    free(constraint);
}

const char *constraint_text(const struct constraint *constraint)
{
    return constraint->text;
}

static bool mentions(const struct constraint *constraint, enum op op, int index)
{
    for (int i = 0; i < constraint->count; i++)
        if (constraint->step[i].op == op && constraint->step[i].operand == index)
            return true;
    return false;
}

bool constraint_mentions(const struct constraint *constraint, int axis)
{
    return mentions(constraint, OP_AXIS, axis);
}

bool constraint_mentions_derived(const struct constraint *constraint, int derived)
{
    return mentions(constraint, OP_DERIVED, derived);
}
