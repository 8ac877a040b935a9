/* The candidate's files; used by branches.c. */
#ifndef UNSEEN_BRANCHES_INTERNAL_H
#define UNSEEN_BRANCHES_INTERNAL_H

#include "branches.h"

/* False: the file does not lie in the candidate's folder. */
bool source_text_open(struct source_text *text, const char *path, const char *candidate);
void source_text_close(struct source_text *text);

#endif
