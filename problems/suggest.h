/* Finds the nearest of several names to a misspelled word, for error messages: "did you mean 'verify'?" */
#ifndef UNSEEN_SUGGEST_H
#define UNSEEN_SUGGEST_H

#include <stddef.h>

/* To begin, set `word` and zero the rest. */
struct suggestion {
    const char *word;
    const char *name; /* the nearest name so far that is similar enough; NULL: none */
    int distance;     /* its edit distance: insertions, deletions, replacements and transpositions */
};

/* Offers a name, which must live as long as the suggestion. The first name of a tie stays. */
void suggest_offer(struct suggestion *suggestion, const char *name);

/* Offers the names of "a, b and c" or "a|b|c", copied into `kept`. */
void suggest_offer_list(struct suggestion *suggestion, const char *names, char *kept, size_t size);

/* Writes " (did you mean 'NAME'?)" or an empty text. Returns `text`. */
const char *suggest_text(const struct suggestion *suggestion, char *text, size_t size);

#endif
