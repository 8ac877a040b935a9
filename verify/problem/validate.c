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
    char *error;
    size_t size;
};

/* "FOLDER/problem.c: TEXT". Always false, for `return`. */
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

/* Rows of `row` bytes that begin with a pointer, which is NULL in the last. Reads no further than the table goes, or
 * than `most` rows. */
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

/* Names that come to one place: in a configuration line, or in the candidate's declaration. */
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
    if (!axis->choices)
        return fail(c,
                    "the axis '%s' is a choice without choices; a table of names was expected\n---> give it "
                    ".choices, or make it an AXIS_NUMBER",
                    axis->name);
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
        if (a->kind == AXIS_CHOICE && !check_choices(c, a))
            return false;
        if (!a->help)
            return fail(c, "the axis '%s' has no help; a few words were expected\n---> say what it is",
                        a->name);
    }
    const int input = problem_axis_index(c->problem, "input");
    if (input < 0 || axes[input].kind != AXIS_CHOICE)
        return fail(
            c,
            "there is no axis 'input' with the classes of input; a choice was expected, one class at least\n"
            "---> add {\"input\", AXIS_CHOICE, inputs, \"how values are drawn\"}");
    return true;
}

/* --- what names axes and choices --- */

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
    if (index < 0 || problem->axes[index].kind != AXIS_CHOICE)
        return false;
    for (const char *const *name = problem->axes[index].choices; *name; name++)
        if (strcmp(*name, choice) == 0)
            return true;
    return false;
}

static bool check_choosing(const struct checking *c)
{
    const char *const *sharp = c->problem->discriminating;
    const struct accumulation *accumulation = &c->problem->accumulation;
    if (sharp && !has_end(c, "discriminating", sharp, sizeof *sharp, SPACE_MAX_VALUES))
        return false;
    for (; sharp && *sharp; sharp++)
        if (!is_choice(c->problem, "input", *sharp))
            return fail(
                c,
                ".discriminating names '%s', which is no choice of the axis 'input'\n---> correct the name",
                *sharp);
    if (accumulation->axis && problem_axis_index(c->problem, accumulation->axis) < 0)
        return fail(c, ".accumulation names '%s', which is no axis\n---> correct the name",
                    accumulation->axis);
    for (int i = 0; i < ACCUMULATION_CHOICES && accumulation->with[i].axis; i++)
        if (!accumulation->with[i].choice ||
            !is_choice(c->problem, accumulation->with[i].axis, accumulation->with[i].choice))
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
        if ((unsigned)a->dtype > DTYPE_F64 || !a->shape)
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

/* reference.h judges the first output, or all of them where results are right or not. */
static bool check_judgement(const struct checking *c)
{
    const struct tensor *first = NULL;
    for (const struct tensor *t = c->problem->tensors; t->name; t++) {
        if (t->role == TENSOR_INPUT)
            continue;
        if (first && !c->problem->exact && !is_judged(c, t->name))
            return fail(
                c,
                "the output '%s' has no judgement: there is no reference_%s.h\n---> write it; reference.h "
                "judges the first output, '%s'",
                t->name, t->name, first->name);
        first = first ? first : t;
    }
    if (!first)
        return fail(
            c, "there is no output; one tensor at least with TENSOR_OUTPUT was expected\n---> add it to the "
               "table .tensors");
    for (int i = 0; i < c->source->output_count; i++) {
        const char *const output = c->source->outputs[i];
        bool known = !*output;
        for (const struct tensor *t = first + 1; t->name && !known; t++)
            known = t->role != TENSOR_INPUT && strcmp(t->name, output) == 0;
        if (!known)
            return fail(c,
                        "reference_%s.h judges no output: '%s' is none, or the first, which reference.h "
                        "judges\n---> rename the file after an output, or remove it",
                        output, output);
    }
    return true;
}

/* --- the rest --- */

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
                      char *error, size_t error_size)
{
    const struct checking c = {problem, source, object, error, error_size};
    return check_texts(&c) && check_axes(&c) && check_derived(&c) && check_choosing(&c) &&
           check_tensors(&c) && check_arguments(&c) && check_judgement(&c) && check_numbers(&c);
}
