#include "condition_terms.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Expressions in doubles, which are exact enough for drawings ---- */

struct reader {
    const char *at;
    const struct config_result *config;
    int names; /* axes and derived sizes that the expression names */
    bool bad;
};

static double read_sum(struct reader *r);

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool take(struct reader *r, char c)
{
    r->at += strspn(r->at, " ");
    if (*r->at != c)
        return false;
    r->at++;
    return true;
}

static double fail(struct reader *r)
{
    r->bad = true;
    return 0;
}

static bool is_name(const char *name, const char *word, size_t length)
{
    return strlen(name) == length && strncmp(name, word, length) == 0;
}

static double named_value(struct reader *r, const char *word, size_t length)
{
    const struct problem *const problem = r->config->config.problem;

    r->names++;
    for (int i = 0; problem != NULL && problem->axes[i].name != NULL; i++)
        if (problem->axes[i].kind == AXIS_NUMBER && is_name(problem->axes[i].name, word, length))
            return (double)r->config->config.value[i];
    for (int i = 0; problem != NULL && problem->derived != NULL && i < RESULT_DERIVED; i++) {
        if (problem->derived[i].name == NULL)
            break;
        if (is_name(problem->derived[i].name, word, length) && r->config->derived_known)
            return (double)r->config->derived[i];
    }
    return fail(r);
}

static double common_divisor(double a, double b)
{
    while (b != 0) {
        const double rest = fmod(a, b);

        a = b;
        b = rest;
    }
    return fabs(a);
}

static double read_divisor(struct reader *r)
{
    const double a = read_sum(r), b = take(r, ',') ? read_sum(r) : fail(r);

    return take(r, ')') ? common_divisor(a, b) : fail(r);
}

static double read_atom(struct reader *r)
{
    size_t length = 0;
    double value;

    if (take(r, '-'))
        return -read_atom(r);
    if (take(r, '(')) {
        value = read_sum(r);
        return take(r, ')') ? value : fail(r);
    }
    while (is_word(r->at[length]))
        length++;
    const char *const word = r->at;
    r->at += length;
    if (length == 0)
        return fail(r);
    if (isdigit((unsigned char)*word))
        return strtod(word, NULL);
    if (is_name("gcd", word, length) && take(r, '('))
        return read_divisor(r);
    return named_value(r, word, length);
}

static double read_power(struct reader *r)
{
    const double base = read_atom(r);

    return take(r, '^') ? pow(base, read_power(r)) : base;
}

static double read_product(struct reader *r)
{
    double value = read_power(r);

    for (;;) {
        if (take(r, '*')) {
            value *= read_power(r);
        } else if (take(r, '/')) {
            const double by = read_power(r);
            value = by != 0 ? trunc(value / by) : fail(r);
        } else if (take(r, '%')) {
            const double by = read_power(r);
            value = by != 0 ? fmod(value, by) : fail(r);
        } else {
            return value;
        }
    }
}

static double read_sum(struct reader *r)
{
    double value = read_product(r);

    for (;;) {
        if (take(r, '+'))
            value += read_product(r);
        else if (take(r, '-'))
            value -= read_product(r);
        else
            return value;
    }
}

bool term_value(const struct term *term, const struct config_result *config, double *value)
{
    struct reader r = {.at = term->text, .config = config};

    if (config->config.problem == NULL)
        return false;
    if (term->choice_axis >= 0) {
        *value = (double)config->config.value[term->choice_axis];
        return true;
    }
    *value = read_sum(&r);
    r.at += strspn(r.at, " ");
    return !r.bad && *r.at == '\0' && isfinite(*value);
}

/* ---- Terms ---- */

struct term term_of_axis(const struct problem *problem, int axis)
{
    struct term term = {.choice_axis = problem->axes[axis].kind == AXIS_CHOICE ? axis : -1};

    snprintf(term.text, sizeof term.text, "%s", problem->axes[axis].name);
    return term;
}

bool term_is_residue(const struct term *term)
{
    return term->choice_axis < 0 && strchr(term->text, '%') != NULL;
}

int term_residue_axis(const struct term *term, const struct problem *problem)
{
    const size_t length = strcspn(term->text, " %");
    const char *const rest = term->text + length + strspn(term->text + length, " ");

    if (*rest != '%' || rest[1 + strspn(rest + 1, " 0123456789")] != '\0')
        return -1;
    for (int i = 0; problem->axes[i].name != NULL; i++)
        if (problem->axes[i].kind == AXIS_NUMBER && is_name(problem->axes[i].name, term->text, length))
            return i;
    return -1;
}

/* Does the text parse as an expression that names an axis or derived size? Evaluated with all axes set to
 * 1. */
static bool is_expression(const struct problem *problem, const struct term *term)
{
    struct config_result probe = {.config.problem = problem, .derived_known = true};
    struct reader r = {.at = term->text, .config = &probe};

    for (int i = 0; i < PROBLEM_MAX_AXES; i++)
        probe.config.value[i] = 1;
    for (int i = 0; i < RESULT_DERIVED; i++)
        probe.derived[i] = 1;
    read_sum(&r);
    r.at += strspn(r.at, " ");
    return !r.bad && *r.at == '\0' && r.names > 0;
}

struct list {
    const struct problem *problem;
    struct term *term;
    int count, most;
};

static void add_side(struct list *list, const char *begin, const char *end)
{
    struct term term = {.choice_axis = -1};

    while (begin < end && *begin == ' ')
        begin++;
    while (end > begin && end[-1] == ' ')
        end--;
    if (list->count == list->most || end == begin || (size_t)(end - begin) >= sizeof term.text)
        return;
    snprintf(term.text, sizeof term.text, "%.*s", (int)(end - begin), begin);
    for (int i = 0; list->problem->axes[i].name != NULL; i++)
        if (strcmp(list->problem->axes[i].name, term.text) == 0)
            term = term_of_axis(list->problem, i);
    if (term.choice_axis < 0 && !is_expression(list->problem, &term))
        return;
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->term[i].text, term.text) == 0)
            return;
    list->term[list->count++] = term;
}

/* One comparison: "not pow2(group)", "page_size in {8, 24}", "input!=wide", "rows * cols > 64". */
static void add_comparison(struct list *list, const char *begin, const char *end)
{
    const char *sign = begin, *set;

    while (begin < end && *begin == ' ')
        begin++;
    if (end - begin > 4 && strncmp(begin, "not ", 4) == 0)
        begin += 4;
    if (end - begin > 5 && strncmp(begin, "pow2(", 5) == 0) {
        add_side(list, begin + 5, end[-1] == ')' ? end - 1 : end);
        return;
    }
    set = strstr(begin, " in {");
    if (set != NULL && set < end) {
        add_side(list, begin, set - begin > 4 && strncmp(set - 4, " not", 4) == 0 ? set - 4 : set);
        return;
    }
    while (sign < end && strchr("<>=!", *sign) == NULL)
        sign++;
    add_side(list, begin, sign);
    while (sign < end && strchr("<>=!", *sign) != NULL)
        sign++;
    add_side(list, sign, end);
}

int terms_of_condition(const struct problem *problem, const char *text, struct term *term, int most)
{
    struct list list = {.problem = problem, .term = term, .most = most};

    for (const char *begin = text; *begin != '\0';) {
        const char *const and = strstr(begin, " and "), *const or = strstr(begin, " or ");
        const char *const next = and == NULL || (or != NULL && or < and) ? or : and;
        const char *const end = next != NULL ? next : begin + strlen(begin);

        add_comparison(&list, begin, end);
        begin = next == NULL ? end : next + (next == or ? 4 : 5);
    }
    return list.count;
}
