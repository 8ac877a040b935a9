#include "condition.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "constraint.h"

enum { MOST_TERMS = 32, TERM_SIZE = 640 };

/* One term of a clause: a comparison of numbers (`constraint`), or the allowed choices of an axis as a bit
 * mask. `starts` marks the first term of a clause. */
struct term {
    struct constraint *constraint;
    int axis;
    uint64_t choices;
    bool unequal, starts;
};

struct condition {
    struct term term[MOST_TERMS];
    int count;
};

static bool add_choice(const struct problem *problem, const char *name, struct term *term)
{
    const int choice = problem_choice_index(problem, term->axis, name);
    if (choice >= 0 && choice < 64)
        term->choices |= (uint64_t)1 << choice;
    return choice >= 0 && choice < 64;
}

static bool find_choice_axis(const struct problem *problem, const char *name, struct term *term)
{
    term->axis = problem_axis_index(problem, name);
    return term->axis >= 0 && problem->axes[term->axis].kind == AXIS_CHOICE;
}

/* Parses "axis in {choice, choice}" or "axis not in {..}". */
static bool parse_choices(const struct problem *problem, const char *text, struct term *term)
{
    char axis[64], choice[64];
    int used = 0;
    term->unequal = sscanf(text, " %63[A-Za-z_0-9] not in {%n", axis, &used) == 1 && used > 0;
    if (!term->unequal && (sscanf(text, " %63[A-Za-z_0-9] in {%n", axis, &used) != 1 || used == 0))
        return false;
    if (!find_choice_axis(problem, axis, term))
        return false;
    for (char end = ','; end == ',';) {
        text += used;
        used = 0;
        if (sscanf(text, " %63[A-Za-z_0-9] %c%n", choice, &end, &used) != 2 || used == 0 ||
            !add_choice(problem, choice, term))
            return false;
        if (end == '}')
            return text[used + (int)strspn(text + used, " ")] == '\0';
    }
    return false;
}

/* Parses "axis=choice", "axis!=choice", or a set of choices. Returns false if the text is neither; it may
 * then be a comparison of numbers. */
static bool parse_choice(const struct problem *problem, const char *text, struct term *term)
{
    char axis[64], choice[64], rest;
    term->choices = 0;
    term->unequal = sscanf(text, " %63[A-Za-z_0-9] != %63[A-Za-z_0-9] %c", axis, choice, &rest) == 2;
    if (!term->unequal && sscanf(text, " %63[A-Za-z_0-9] = %63[A-Za-z_0-9] %c", axis, choice, &rest) != 2)
        return parse_choices(problem, text, term);
    return find_choice_axis(problem, axis, term) && add_choice(problem, choice, term);
}

static bool parse_term(const struct problem *problem, const char *text, size_t length, struct term *term,
                       char *why, size_t size)
{
    char part[TERM_SIZE];
    if (length >= sizeof part) {
        snprintf(why, size, "'%.40s..': a term of %d characters at most is expected", text, TERM_SIZE - 1);
        return false;
    }
    memcpy(part, text, length);
    part[length] = '\0';
    if (parse_choice(problem, part, term))
        return true;
    term->constraint = constraint_parse_derived(problem, part, why, size);
    return term->constraint != NULL;
}

/* Finds the end of the term at `text`, and the word after it: "and", "or" or nothing. */
static size_t term_length(const char *text, const char **word)
{
    const char *and = strstr(text, " and "), * or = strstr(text, " or ");
    const char *end = and&&(! or || and < or) ? and : or ;
    *word = end == NULL ? "" : end == and? "and" : "or";
    return end ? (size_t)(end - text) : strlen(text);
}

struct condition *condition_parse(const struct problem *problem, const char *text, char *why, size_t size)
{
    struct condition *condition = calloc(1, sizeof *condition);
    bool starts = true;
    snprintf(why, size, "out of memory");
    if (!condition || strcmp(text, "any") == 0)
        return condition;
    for (;;) {
        const char *word;
        const size_t length = term_length(text, &word);
        struct term *term = &condition->term[condition->count];
        if (condition->count == MOST_TERMS) {
            snprintf(why, size, "more than %d terms", MOST_TERMS);
            break;
        }
        condition->count++;
        term->starts = starts;
        if (!parse_term(problem, text, length, term, why, size))
            break;
        if (!*word)
            return condition;
        starts = word[0] == 'o';
        text += length + strlen(word) + 2;
    }
    condition_free(condition);
    return NULL;
}

void condition_free(struct condition *condition)
{
    for (int i = 0; condition && i < condition->count; i++)
        constraint_free(condition->term[i].constraint);
    free(condition);
}

static bool term_holds(const struct term *term, const struct config *config)
{
    if (term->constraint)
        return constraint_holds(term->constraint, config);
    return (term->choices >> config->value[term->axis] & 1) != term->unequal;
}

bool condition_holds(const struct condition *condition, const struct config *config)
{
    bool clause = condition->count == 0;
    for (int i = 0; i < condition->count; i++) {
        if (condition->term[i].starts) {
            if (clause)
                return true;
            clause = true;
        }
        clause = clause && term_holds(&condition->term[i], config);
    }
    return clause;
}
