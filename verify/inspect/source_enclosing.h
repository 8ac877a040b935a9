/* Conditions around a statement, and clues that are joined with them. */
#ifndef UNSEEN_SOURCE_ENCLOSING_H
#define UNSEEN_SOURCE_ENCLOSING_H

#include "source_reader.h"

/* The clue's terms hold from here on, until `enclosed` is what it was. `negated`: since another branch is not
 * taken. */
void enclose(struct reader *reader, const struct clue *clue, bool negated);

bool clue_has_term(const struct clue *clue, const struct clue_term *term);

void clues_add(struct reader *reader, const struct clue *clue);
/* Adds the clue together with the innermost conditions around it that it has room for: those of the branches
 * that are taken, then those of other branches, too. */
void clues_add_enclosed(struct reader *reader, const struct clue *clue);

#endif
