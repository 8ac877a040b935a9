/* What --forbid names, and which names of libraries, symbols and kernels stand for it: one table. */
#ifndef UNSEEN_POLICY_H
#define UNSEEN_POLICY_H

#include <stddef.h>

enum policy_kind {
    POLICY_LIBRARY, /* a file's name, without its folders */
    POLICY_SYMBOL,
    POLICY_KERNEL /* a mangled name, of a kernel or of the template that it is made from */
};

enum { POLICY_WORDS = 32, POLICY_WORD = 64 };
struct policy {
    int words;
    char word[POLICY_WORDS][POLICY_WORD]; /* as given: "cublas", "lib:gmp" */
};

/* Adds the words of a list with commas. 0; -1: error says which is unknown and which are known; nothing is added then. */
int policy_add(struct policy *policy, const char *list, char *error, size_t error_size);

/* The word that forbids it that the object at this path ("": nobody knows which) launches this kernel; NULL: none. A library that
 * some word stands for launches its own, whatever they were made from: only lib: and kernel: look at their names. */
const char *policy_forbids_launch(const struct policy *policy, const char *kernel, const char *object);

/* The word that forbids it; NULL: none. */
const char *policy_forbids(const struct policy *policy, enum policy_kind kind, const char *name);

#endif
