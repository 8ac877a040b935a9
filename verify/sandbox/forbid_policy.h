/* The words of --forbid and the libraries, symbols and kernels they stand for, in one table. */
#ifndef UNSEEN_FORBID_POLICY_H
#define UNSEEN_FORBID_POLICY_H

#include <stddef.h>

enum policy_kind {
    POLICY_LIBRARY, /* a file name without its folders */
    POLICY_SYMBOL,
    POLICY_KERNEL /* a mangled name of a kernel, or of the template it is instantiated from */
};

enum { POLICY_WORDS = 32, POLICY_WORD = 64 };
struct policy {
    int words;
    char word[POLICY_WORDS][POLICY_WORD]; /* as the user wrote it: "cublas", "lib:gmp" */
};

/* Adds the words of a comma-separated list. Returns 0, or -1 with the unknown and the known words in error;
 * then nothing is added. */
int policy_add(struct policy *policy, const char *list, char *error, size_t error_size);

/* The word that forbids that the object at this path ("": unknown) launches this kernel; NULL: none. If a
 * word stands for the launching library, its kernels count as its own, whatever they were built from: only
 * lib: and kernel: check their names. */
const char *policy_forbids_launch(const struct policy *policy, const char *kernel, const char *object);

/* The word that forbids this name; NULL: none. */
const char *policy_forbids(const struct policy *policy, enum policy_kind kind, const char *name);

#endif
