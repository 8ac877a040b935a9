/* The key of a compiled candidate: the SHA-256 of everything that its compiler reads. */
#ifndef UNSEEN_OBJECT_KEY_H
#define UNSEEN_OBJECT_KEY_H

#include <time.h>

#include "compiler.h"

struct object_key {
    char hex[65];          /* empty: the object cannot be kept, or the store is off */
    int assembler;         /* reads the names of the files that the assembler reads; -1: closed */
    struct timespec began; /* before the first file was read */
};

/* Sets the key of the object that `command` makes from options->path. If there is a key, `command` gets an
 * option that makes the assembler list its files. */
void object_key_open(struct object_key *key, struct compiler_command *command, const struct build *build,
                     const struct build_options *options);

/* After the compiler: does the key stand for all that it read? False: a file changed meanwhile, or the
 * assembler read a file that the preprocessor does not know (.incbin, .include). */
bool object_key_holds(const struct object_key *key, const struct build *build,
                      const struct build_options *options);

/* Leaves the preprocessed text as build->text. */
void object_key_close(struct object_key *key, struct build *build);

#endif
