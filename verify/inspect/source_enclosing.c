#include "source_enclosing.h"

#include <stdlib.h>
#include <string.h>

void enclose(struct reader *reader, const struct clue *clue, bool negated)
{
    /* Long chains of else leave room for the conditions inside of them. */
    const int most = negated ? READER_MOST_NEGATED : READER_MOST_ENCLOSING;
    for (int i = 0; i < clue->terms && reader->enclosed < most; i++)
        reader->enclosing[reader->enclosed++] = (struct enclosing){clue->term[i], negated};
}

bool clue_has_term(const struct clue *clue, const struct clue_term *term)
{
    for (int i = 0; i < clue->terms; i++)
        if (clue->term[i].relation == term->relation && strcmp(clue->term[i].subject, term->subject) == 0 &&
            strcmp(clue->term[i].bound, term->bound) == 0)
            return true;
    return false;
}

/* The least and the greatest value that the term admits. False: its bound is no number, or it is !=. */
static bool interval(const struct clue_term *term, long long *least, long long *most)
{
    char *end;
    const long long bound = strtoll(term->bound, &end, 10);
    if (end == term->bound || *end || bound == INT64_MIN || bound == INT64_MAX ||
        term->relation == CLUE_NOT_EQUAL || term->relation == CLUE_TILE)
        return false;
    *least = term->relation == CLUE_GREATER                                         ? bound + 1
             : term->relation == CLUE_EQUAL || term->relation == CLUE_GREATER_EQUAL ? bound
                                                                                    : INT64_MIN;
    *most = term->relation == CLUE_LESS                                         ? bound - 1
            : term->relation == CLUE_EQUAL || term->relation == CLUE_LESS_EQUAL ? bound
                                                                                : INT64_MAX;
    return true;
}

/* x != 3 and x >= 2 follow from x == 5. */
static bool follows(const struct clue_term *term, const struct clue_term *from)
{
    long long least, most, from_least, from_most;
    if (strcmp(term->subject, from->subject) != 0 || strchr(term->subject, '?') ||
        !interval(from, &from_least, &from_most))
        return false;
    struct clue_term equal = *term;
    if (term->relation == CLUE_NOT_EQUAL)
        equal.relation = CLUE_EQUAL;
    if (!interval(&equal, &least, &most))
        return false;
    return term->relation == CLUE_NOT_EQUAL ? from_most < least || from_least > least
                                            : from_least >= least && from_most <= most;
}

static bool follows_from_clue(const struct clue_term *term, const struct clue *clue)
{
    for (int i = 0; i < clue->terms; i++)
        if (follows(term, &clue->term[i]))
            return true;
    return false;
}

void clues_add(struct reader *reader, const struct clue *clue)
{
    if (clue->terms > 0 && clue_list_add(reader->list, clue) != 0)
        reader->failed = true;
    reader->done |= reader->list->truncated;
}

static bool is_joined(const struct clue *clue, const struct enclosing *enclosing, bool negated)
{
    return (negated || !enclosing->negated) && !clue_has_term(clue, &enclosing->term) &&
           !(enclosing->negated && follows_from_clue(&enclosing->term, clue));
}

static void join(struct reader *reader, const struct clue *clue, bool negated)
{
    struct clue joined = *clue;
    int first = reader->enclosed, room = CLUE_MOST_TERMS - clue->terms;
    for (; first > 0 && room > 0; first--)
        room -= is_joined(clue, &reader->enclosing[first - 1], negated);
    joined.terms = 0;
    for (int i = first; i < reader->enclosed; i++)
        if (is_joined(clue, &reader->enclosing[i], negated) &&
            !clue_has_term(&joined, &reader->enclosing[i].term))
            joined.term[joined.terms++] = reader->enclosing[i].term;
    if (joined.terms == 0)
        return;
    for (int i = 0; i < clue->terms; i++)
        joined.term[joined.terms++] = clue->term[i];
    clues_add(reader, &joined);
}

void clues_add_enclosed(struct reader *reader, const struct clue *clue)
{
    if (reader->enclosed == 0 || clue->terms == 0)
        return;
    join(reader, clue, false);
    join(reader, clue, true);
}
