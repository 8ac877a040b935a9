/* Comparisons of a text as terms of clues. */
#ifndef UNSEEN_SOURCE_TERMS_H
#define UNSEEN_SOURCE_TERMS_H

#include "source_reader.h"

enum term_kind {
    TERM_NONE, /* it tells nothing */
    TERM_COMPARED,
    TERM_TILE /* a bound of a loop; the subject is "?" */
};

/* The term of a comparison, or of any other value, which is compared with 0. `negated`: of its opposite. */
enum term_kind term_of(struct reader *reader, int node, bool negated, struct clue_term *term);

/* The text of an expression with the values of its names, as far as it fits. False: it does not fit. */
bool term_text(struct reader *reader, int node, char *text, size_t size);

#endif
