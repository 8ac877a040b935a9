/* Scopes of names: brackets, and what is visible inside of each. */
#ifndef UNSEEN_SOURCE_SCOPES_H
#define UNSEEN_SOURCE_SCOPES_H

#include "source_tokens.h"

/* Scopes that are no bracket. */
enum {
    SCOPE_FILE = -1,
    SCOPE_OUTSIDE = -2, /* any file, namespace or class: for names that no scope around them defines */
    SCOPE_MEMBER = -3   /* any structure */
};

enum scope_kind {
    SCOPE_BLOCK,  /* its names are visible inside, behind their definition */
    SCOPE_HEADER, /* the parentheses before a block */
    SCOPE_CLASS,  /* or a namespace: its names are visible elsewhere, too */
    SCOPE_CLEAR   /* its names belong to the scope around it, as of an enum */
};

struct scopes {
    int *outer;          /* of each opening bracket: the scope around it */
    unsigned char *kind; /* of each opening bracket: an enum scope_kind */
};

/* Returns 0, or -1 when memory is out. Free the scopes in both cases. */
int scopes_read(struct scopes *scopes, const struct source *source);
void scopes_free(struct scopes *scopes);

/* The scope of a name that is defined at `at`. */
int scope_of(const struct scopes *scopes, const struct source *source, int at);

#endif
