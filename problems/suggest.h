/* The nearest of the names that a word could have been, for error messages: "did you mean 'verify'?" */
#ifndef UNSEEN_SUGGEST_H
#define UNSEEN_SUGGEST_H

#include <stddef.h>

/* Zeroed but for the word it has seen no name. */
struct suggestion {
    const char *word;
    const char *name; /* the nearest one that is near enough; NULL: none */
    int distance;     /* of it: insertions, deletions, replacements and swaps of neighbours */
};

/* Offers one possible name, which must live as long as the suggestion. The first of equally near ones stays. */
void suggest_offer(struct suggestion *suggestion, const char *name);

/* The names of "a, b and c" or "a|b|c", copied into `kept`. */
void suggest_offer_list(struct suggestion *suggestion, const char *names, char *kept, size_t size);

/* " (did you mean 'NAME'?)", or an empty text. Returns `text`. */
const char *suggest_text(const struct suggestion *suggestion, char *text, size_t size);

#endif
