#include "validate.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "gen/contract/space.h"
#include "symbols.h"

struct checking {
    const struct problem *problem;
    const struct module_source *source;
    const char *object;
    bool discrete;
    char *error;
    size_t size;
};

/* Writes "FOLDER/problem.c: TEXT". Always returns false, for `return`. */
static __attribute__((format(printf, 2, 3))) bool fail(const struct checking *c, const char *format, ...)
{
    va_list arguments;
    const int used = snprintf(c->error, c->size, "%s/problem.c: ", c->source->folder);
    va_start(arguments, format);
    if (used > 0 && (size_t)used < c->size)
        vsnprintf(c->error + used, c->size - (size_t)used, format, arguments);
    va_end(arguments);
    return false;
}

static bool is_word(const char *text)
{
    if (!text || !(isalpha((unsigned char)*text) || *text == '_') || strlen(text) >= MODULE_NAME)
        return false;
    for (const char *c = text; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_')
            return false;
    return true;
}

/* --- tables --- */

/* Checks a table of rows of `row` bytes that begin with a pointer, NULL in the last row. Reads no further
 * than the table extends, or than `most` rows. */
static bool has_end(const struct checking *c, const char *name, const void *table, size_t row, int most)
{
    const char *at = table;
    if (!table)
        return fail(c, "there is no .%s; a table was expected\n---> add it to problem_%s", name,
                    c->source->name);
    const size_t bytes = symbols_bytes(c->object, c->problem, table), rows = bytes / row;
    for (int i = 0; i <= most; i++, at += row) {
        const void *first;
        if (bytes > 0 && (size_t)i >= rows)
            return fail(
                c,
                "the table .%s has no end: none of its %zu rows is empty; a last one without a name was "
                "expected\n---> end it with %s",
                name, rows, row > sizeof(char *) ? "{0}" : "NULL");
        memcpy(&first, at, sizeof first);
        if (!first)
            return true;
    }
    return fail(c,
                "the table .%s has no end within %d rows; at most %d and an empty one were expected\n---> "
                "end it with %s",
                name, most, most, row > sizeof(char *) ? "{0}" : "NULL");
}

/* Rejects equal names that would meet in a configuration line, or in the candidate's declaration. */
static bool is_new(const struct checking *c, const char *kind, const char *name, const char *other_kind,
                   const char *other)
{
    return strcmp(name, other) != 0 ||
           fail(
               c,
               "the %s '%s' has the name of %s%s; a name of its own was expected\n---> rename one of the two",
               kind, name, strcmp(kind, other_kind) == 0 ? "another " : "the ", other_kind);
}

static bool has_name(const struct checking *c, const char *kind, const char *name)
{
    return is_word(name) ||
           fail(c,
                "%s '%s'; a name of letters, digits and '_' was expected, at most %d of them\n---> rename it",
                kind, name, MODULE_NAME - 1);
}

/* --- axes --- */

static bool check_choices(const struct checking *c, const struct axis *axis)
{
    char table[2 * MODULE_NAME + 16];
    snprintf(table, sizeof table, "choices of the axis '%s'", axis->name);
    if (!has_end(c, table, axis->choices, sizeof *axis->choices, SPACE_MAX_VALUES))
        return false;
    if (!*axis->choices)
        return fail(c, "the axis '%s' has no choices; one at least was expected\n---> name it", axis->name);
    for (const char *const *a = axis->choices; *a; a++) {
        if (!has_name(c, "a choice is called", *a))
            return false;
        for (const char *const *b = axis->choices; b < a; b++)
            if (!is_new(c, "choice", *a, "choice", *b))
                return false;
    }
    return true;
}

/* The classes are the choices of the one axis that has none of its own. */
static bool check_classes(const struct checking *c)
{
    const struct input_class *classes = c->problem->classes;
    const int input = problem_input_axis(c->problem);
    if (input < 0)
        return fail(
            c,
            "there is no axis of the input classes; one choice without choices of its own was expected\n---> "
            "add {\"input\", AXIS_CHOICE, NULL, \"how values are drawn\"}");
    for (const struct axis *a = c->problem->axes + input + 1; a->name; a++)
        if (a->kind == AXIS_CHOICE && !a->choices)
            return fail(
                c,
                "the axes '%s' and '%s' are both choices without choices; one was expected, for the input "
                "classes\n---> name the choices of the other",
                c->problem->axes[input].name, a->name);
    if (!has_end(c, "classes", classes, sizeof *classes, SPACE_MAX_VALUES))
        return false;
    if (!classes->name)
        return fail(c, "there are no input classes; one at least was expected\n---> name one in .classes");
    for (const struct input_class *a = classes; a->name; a++) {
        if (!has_name(c, "an input class is called", a->name))
            return false;
        for (const struct input_class *b = classes; b < a; b++)
            if (!is_new(c, "input class", a->name, "input class", b->name))
                return false;
        if (a->data > DATA_EXACT || !a->shows)
            return fail(c, "the input class '%s' has no %s; one was expected\n---> correct its row", a->name,
                        a->shows ? "known promise" : "word on what it shows");
    }
    return true;
}

static bool check_axes(const struct checking *c)
{
    const struct axis *axes = c->problem->axes;
    if (!has_end(c, "axes", axes, sizeof *axes, PROBLEM_MAX_AXES))
        return false;
    for (const struct axis *a = axes; a->name; a++) {
        if (!has_name(c, "an axis is called", a->name) ||
            !is_new(c, "axis", a->name, "configuration's", "seed"))
            return false;
        for (const struct axis *b = axes; b < a; b++)
            if (!is_new(c, "axis", a->name, "axis", b->name))
                return false;
        if (a->kind != AXIS_NUMBER && a->kind != AXIS_CHOICE)
            return fail(
                c,
                "the axis '%s' is of kind %d; AXIS_NUMBER or AXIS_CHOICE was expected\n---> correct its row",
                a->name, (int)a->kind);
        if (a->kind == AXIS_CHOICE && a->choices && !check_choices(c, a))
            return false;
        if (!a->help)
            return fail(c, "the axis '%s' has no help; a few words were expected\n---> say what it is",
                        a->name);
    }
    return check_classes(c);
}

/* --- references to axes and choices --- */

static bool check_derived(const struct checking *c)
{
    const struct derived *derived = c->problem->derived;
    if (derived && !has_end(c, "derived", derived, sizeof *derived, PROBLEM_MAX_AXES))
        return false;
    for (const struct derived *d = derived; d && d->name; d++) {
        int n = 0;
        if (!has_name(c, "a derived size is called", d->name))
            return false;
        if (problem_axis_index(c->problem, d->name) >= 0)
            return is_new(c, "derived size", d->name, "axis", d->name);
        for (const struct derived *other = derived; other < d; other++)
            if (!is_new(c, "derived size", d->name, "derived size", other->name))
                return false;
        for (; n <= DERIVED_MAX_AXES && d->axes[n]; n++)
            if (problem_axis_index(c->problem, d->axes[n]) < 0)
                return fail(c,
                            "the derived size '%s' depends on '%s', which is no axis\n---> correct its .axes",
                            d->name, d->axes[n]);
        if (n > DERIVED_MAX_AXES)
            return fail(
                c,
                "the derived size '%s' has no end in .axes; at most %d axes and NULL were expected\n---> end "
                "them with NULL",
                d->name, DERIVED_MAX_AXES);
        if (!d->value || !d->help)
            return fail(c, "the derived size '%s' has no %s; one was expected\n---> add it", d->name,
                        d->value ? "help" : "value");
    }
    return true;
}

static bool is_choice(const struct problem *problem, const char *axis, const char *choice)
{
    const int index = problem_axis_index(problem, axis);
    return choice && index >= 0 && problem->axes[index].kind == AXIS_CHOICE &&
           problem_choice_index(problem, index, choice) >= 0;
}

static bool check_accumulation(const struct checking *c)
{
    const struct accumulation *accumulation = &c->problem->accumulation;
    if (accumulation->axis && problem_axis_index(c->problem, accumulation->axis) < 0)
        return fail(c, ".accumulation names '%s', which is no axis\n---> correct the name",
                    accumulation->axis);
    for (int i = 0; i < ACCUMULATION_CHOICES && accumulation->with[i].axis; i++)
        if (!is_choice(c->problem, accumulation->with[i].axis, accumulation->with[i].choice))
            return fail(c, ".accumulation names %s=%s, which is no choice\n---> correct the names",
                        accumulation->with[i].axis,
                        accumulation->with[i].choice ? accumulation->with[i].choice : "NULL");
    return true;
}

/* --- tensors and arguments --- */

static bool check_tensors(const struct checking *c)
{
    const struct tensor *tensors = c->problem->tensors;
    if (!has_end(c, "tensors", tensors, sizeof *tensors, PROBLEM_MAX_TENSORS))
        return false;
    for (const struct tensor *a = tensors; a->name; a++) {
        if (!has_name(c, "a tensor is called", a->name) ||
            !is_new(c, "tensor", a->name, "candidate's parameter", "stream"))
            return false;
        for (const struct tensor *b = tensors; b < a; b++)
            if (!is_new(c, "tensor", a->name, "tensor", b->name))
                return false;
        if ((unsigned)a->dtype >= DTYPE_COUNT || !a->shape)
            return fail(c, "the tensor '%s' has no %s; one was expected\n---> correct its row", a->name,
                        a->shape ? "known dtype" : "shape");
        if (a > tensors && a->role == TENSOR_INPUT && a[-1].role == TENSOR_OUTPUT)
            return fail(
                c,
                "the input '%s' comes after the output '%s'; inputs first were expected\n---> change their "
                "order, and the candidates'",
                a->name, a[-1].name);
    }
    return true;
}

static bool check_arguments(const struct checking *c)
{
    const struct argument *arguments = c->problem->arguments;
    if (!has_end(c, "arguments", arguments, sizeof *arguments, PROBLEM_MAX_ARGUMENTS))
        return false;
    for (const struct argument *a = arguments; a->name; a++) {
        if (!has_name(c, "an argument is called", a->name) ||
            !is_new(c, "argument", a->name, "candidate's parameter", "stream"))
            return false;
        for (const struct argument *b = arguments; b < a; b++)
            if (!is_new(c, "argument", a->name, "argument", b->name))
                return false;
        for (const struct tensor *t = c->problem->tensors; t->name; t++)
            if (!is_new(c, "argument", a->name, "tensor", t->name))
                return false;
        if (a->type > ARGUMENT_F64)
            return fail(
                c,
                "the argument '%s' is of type %d; ARGUMENT_I64 or another one was expected\n---> correct its "
                "row",
                a->name, (int)a->type);
    }
    return true;
}

/* --- judgement --- */

static bool is_judged(const struct checking *c, const char *output)
{
    for (int i = 0; i < c->source->output_count; i++)
        if (strcmp(c->source->outputs[i], output) == 0)
            return true;
    return false;
}

/* Must match reference_list: reference.h judges the first output without a file of its own, a discrete
 * reference all of these. */
static bool check_outputs(const struct checking *c)
{
    bool taken = false, any = false;
    for (const struct tensor *t = c->problem->tensors; t->name; t++) {
        if (t->role == TENSOR_INPUT)
            continue;
        any = true;
        if (is_judged(c, t->name))
            continue;
        if (c->discrete ? t->role == TENSOR_INOUT : taken)
            return fail(
                c,
                "the output '%s' has no judgement: there is no reference_%s.h; reference.h judges %s\n---> "
                "write it",
                t->name, t->name, c->discrete ? "no tensor that is an input, too" : "another output");
        taken = true;
    }
    return any ||
           fail(c,
                "there is no output; one tensor at least with TENSOR_OUTPUT was expected\n---> add it to the "
                "table .tensors");
}

static bool check_judgements(const struct checking *c)
{
    for (int i = 1; i < c->source->output_count; i++) {
        const int tensor = problem_tensor_index(c->problem, c->source->outputs[i]);
        if (tensor < 0 || c->problem->tensors[tensor].role == TENSOR_INPUT)
            return fail(
                c,
                "reference_%s.h judges no output: '%s' is none\n---> rename the file after an output, or "
                "remove it",
                c->source->outputs[i], c->source->outputs[i]);
    }
    return true;
}

/* --- other fields --- */

static bool check_texts(const struct checking *c)
{
    const struct problem *p = c->problem;
    if (!p->name || strcmp(p->name, c->source->name) != 0)
        return fail(c, "problem_%s is called '%s'; the folder's name was expected\n---> set .name to \"%s\"",
                    c->source->name, p->name ? p->name : "NULL", c->source->name);
    if (!p->summary || !p->arithmetic)
        return fail(c, "there is no .%s; a line for people was expected\n---> add it",
                    p->summary ? "arithmetic" : "summary");
    if (!p->instantiate)
        return fail(
            c,
            "there is no .instantiate; the function that makes a configuration concrete was expected\n---> "
            "write it (problems/problem.h)");
    return true;
}

static bool check_numbers(const struct checking *c)
{
    const struct problem *p = c->problem;
    if (p->arithmetic_class > ARITHMETIC_BF16_OPERANDS || p->peak > PEAK_E4M3)
        return fail(
            c, ".arithmetic_class and .peak are %d and %d; one of each enum was expected\n---> correct them",
            (int)p->arithmetic_class, (int)p->peak);
    if (!(p->host_ns > 0) || !isfinite(p->host_ns))
        return fail(c, ".host_ns is %g; nanoseconds a flop above 0 were expected\n---> 5 is a fair guess",
                    p->host_ns);
    if (!(p->published_atol >= 0) || !(p->published_rtol >= 0))
        return fail(c,
                    ".published_atol and .published_rtol are %g and %g; numbers from 0 on were "
                    "expected\n---> correct "
                    "them",
                    p->published_atol, p->published_rtol);
    if (p->half.tensor < 0 || p->half.tensor >= problem_tensor_count(p))
        return fail(c, ".half names the tensor number %d; 0 to %d were expected\n---> correct it",
                    p->half.tensor, problem_tensor_count(p) - 1);
    return true;
}

bool problem_validate(const struct problem *problem, const struct module_source *source, const char *object,
                      bool discrete, char *error, size_t error_size)
{
    const struct checking c = {problem, source, object, discrete, error, error_size};
    return check_texts(&c) && check_axes(&c) && check_derived(&c) && check_accumulation(&c) &&
           check_tensors(&c) && check_arguments(&c) && check_outputs(&c) && check_judgements(&c) &&
           check_numbers(&c);
}
