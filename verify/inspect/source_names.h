/* Names of a text, each once, and the words of the languages among them. */
#ifndef UNSEEN_SOURCE_NAMES_H
#define UNSEEN_SOURCE_NAMES_H

#include "source_tokens.h"

/* Index of a name, which is added if it is new; -1 when memory is out. */
int source_intern(struct source *source, const char *text, size_t length);
/* Adds the words of the languages. Returns 0, or -1 when memory is out. */
int source_add_words(struct source *source);

#endif
