#include "branch.h"

#include <stdarg.h>
#include <stdio.h>

#include "draw_internal.h"

/* MOST_MEMBERS: a kernel with a table of more published values than this is not modelled. */
enum { TRIES = 100, MOST_AXES = 3, MOST_MEMBERS = 40 };

struct branching {
    const struct space *space;
    const struct config_list *seen;
    struct pcg *stream;
    int number[PROBLEM_MAX_AXES], numbers; /* axes that can vary */
    int choice[PROBLEM_MAX_AXES], choices;
};

static uint64_t below(const struct branching *b, uint64_t bound)
{
    return pcg_below(b->stream, bound);
}

static int64_t power_of_two(const struct branching *b, int least, int most)
{
    return (int64_t)1 << (least + (int)below(b, (uint64_t)(most - least + 1)));
}

static void list_axes(struct branching *b)
{
    for (int i = 0; b->space->problem->axes[i].name; i++)
        if (domain_is_number(b->space, i))
            b->number[b->numbers++] = i;
        else if (b->space->problem->axes[i].kind != AXIS_NUMBER && b->space->domain[i].value_count > 1)
            b->choice[b->choices++] = i;
}

/* Picks `count` different number axes. Returns false if the space has fewer that can vary. */
static bool pick_axes(const struct branching *b, int *axis, int count)
{
    int picked = 0;
    for (int tries = 0; tries < TRIES && picked < count && b->numbers >= count; tries++) {
        const int next = b->number[below(b, (uint64_t)b->numbers)];
        bool again = false;
        for (int i = 0; i < picked; i++)
            again = again || axis[i] == next;
        if (!again)
            axis[picked++] = next;
    }
    return picked == count;
}

/* --- numbers that kernels know --- */

static int64_t known_tile(const struct branching *b, const struct domain *domain)
{
    if (domain->tile_count > 0 && below(b, 2))
        return domain->tile[below(b, (uint64_t)domain->tile_count)];
    return power_of_two(b, 1, 8);
}

static int64_t seen_value(const struct branching *b, int axis)
{
    return b->seen->item[below(b, (uint64_t)b->seen->count)].value[axis];
}

/* Returns the greatest published value, a power of two, or any value of the axis. */
static int64_t known_threshold(const struct branching *b, int axis)
{
    const int64_t any = domain_random(&b->space->domain[axis], b->stream);
    int64_t power = 1, largest = 0;
    for (int i = 0; i < b->seen->count; i++)
        if (b->seen->item[i].value[axis] > largest)
            largest = b->seen->item[i].value[axis];
    while (power < any)
        power *= 2;
    switch (below(b, 3)) {
    case 0: return largest > 0 ? largest : any;
    case 1: return power;
    default: return any;
    }
}

static int64_t known_residue(const struct branching *b, int64_t modulus)
{
    switch (below(b, 5)) {
    case 0: return 0;
    case 1: return 1;
    case 2: return modulus - 1;
    case 3: return modulus / 2;
    default: return (int64_t)below(b, (uint64_t)modulus);
    }
}

/* --- one term --- */

struct phrase {
    char *text;
    size_t size, length;
};

static bool say(struct phrase *phrase, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends the text. Returns false, and appends nothing, if it does not fit. */
static bool say(struct phrase *phrase, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length =
        vsnprintf(phrase->text + phrase->length, phrase->size - phrase->length, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= phrase->size - phrase->length)
        return false;
    phrase->length += (size_t)length;
    return true;
}

static bool draw_choice(const struct branching *b, struct phrase *phrase)
{
    if (b->choices == 0)
        return false;
    const int axis = b->choice[below(b, (uint64_t)b->choices)];
    const struct domain *domain = &b->space->domain[axis];
    const int64_t choice = domain->value[below(b, (uint64_t)domain->value_count)];
    return say(phrase, "%s=%s", b->space->problem->axes[axis].name,
               problem_choice(b->space->problem, axis, choice));
}

static bool say_published(const struct branching *b, int axis, struct phrase *phrase)
{
    int64_t member[MOST_MEMBERS];
    int members = 0;
    bool fits = say(phrase, "%s not in {", b->space->problem->axes[axis].name);
    for (int i = 0; fits && i < b->seen->count; i++) {
        const int64_t value = b->seen->item[i].value[axis];
        bool said = false;
        for (int j = 0; j < members; j++)
            said = said || member[j] == value;
        if (said)
            continue;
        if (members == MOST_MEMBERS)
            return false;
        fits = say(phrase, members ? ", %lld" : "%lld", (long long)value);
        member[members++] = value;
    }
    return members > 0 && fits && say(phrase, "}");
}

static bool draw_residue(const struct branching *b, const char *name, struct phrase *phrase)
{
    const int64_t modulus = below(b, 3) ? power_of_two(b, 1, 7) : 3 + (int64_t)below(b, 7);
    return say(phrase, "%s %% %lld == %lld", name, (long long)modulus, (long long)known_residue(b, modulus));
}

static bool draw_product(const struct branching *b, const int *axis, int axes, struct phrase *phrase)
{
    bool fits = true;
    for (int i = 0; i < axes; i++)
        fits = fits && say(phrase, i ? " * %s" : "%s", b->space->problem->axes[axis[i]].name);
    return fits && say(phrase, " > %lld", (long long)power_of_two(b, 10, 31));
}

static bool draw_term(const struct branching *b, enum branch_kind *kind, struct phrase *phrase)
{
    int axis[MOST_AXES];
    *kind = (enum branch_kind)below(b, BRANCH_KINDS);
    const int axes = *kind == BRANCH_PRODUCT                              ? 2 + (below(b, 4) == 0)
                     : *kind == BRANCH_UNDIVIDED || *kind == BRANCH_RATIO ? 2
                                                                          : 1;
    if (*kind == BRANCH_CHOICE)
        return draw_choice(b, phrase);
    if (!pick_axes(b, axis, axes))
        return false;
    const struct domain *domain = &b->space->domain[axis[0]];
    const char *const name = b->space->problem->axes[axis[0]].name;
    const char *const other = axes > 1 ? b->space->problem->axes[axis[1]].name : "";
    switch (*kind) {
    case BRANCH_NOT_MULTIPLE: return say(phrase, "%s %% %lld != 0", name, (long long)known_tile(b, domain));
    case BRANCH_RESIDUE: return draw_residue(b, name, phrase);
    case BRANCH_ABOVE: return say(phrase, "%s > %lld", name, (long long)known_threshold(b, axis[0]));
    case BRANCH_BELOW: return say(phrase, "%s < %lld", name, (long long)known_tile(b, domain));
    case BRANCH_SEEN:
        return b->seen->count > 0 && say(phrase, "%s == %lld", name, (long long)seen_value(b, axis[0]));
    case BRANCH_OTHER: return say_published(b, axis[0], phrase);
    case BRANCH_PRODUCT: return draw_product(b, axis, axes, phrase);
    case BRANCH_UNDIVIDED: return say(phrase, "%s %% %s != 0", name, other);
    default: return say(phrase, "%s > %lld * %s", name, 1 + (long long)below(b, 8), other);
    }
}

bool branch_draw(struct branch *branch, const struct space *space, const struct config_list *seen,
                 struct pcg *stream)
{
    struct branching b = {.space = space, .seen = seen, .stream = stream};
    list_axes(&b);
    *branch = (struct branch){.terms = 1 + (below(&b, 3) == 0)};
    const bool either = below(&b, 2);
    struct phrase phrase = {branch->text, sizeof branch->text, 0};
    for (int i = 0; i < branch->terms; i++) {
        const size_t before = phrase.length;
        bool drawn = false;
        for (int tries = 0; !drawn && tries < TRIES; tries++) {
            phrase.length = before;
            drawn = (i == 0 || say(&phrase, either ? " or " : " and ")) &&
                    draw_term(&b, &branch->kind[i], &phrase);
        }
        if (!drawn)
            return false;
    }
    return true;
}

bool branch_is_seen(const struct condition *condition, const struct config_list *seen)
{
    for (int i = 0; i < seen->count; i++)
        if (condition_holds(condition, &seen->item[i]))
            return true;
    return false;
}
