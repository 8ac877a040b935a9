/* Shapes that were captured from a running program, and the configurations of a problem that have them. */
#ifndef UNSEEN_CAPTURED_H
#define UNSEEN_CAPTURED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gen/contract/space.h"

enum { CAPTURED_TENSORS = 24, CAPTURED_AXES = PROBLEM_MAX_AXES };

struct captured_tensor {
    char name[64];  /* empty: not known */
    char dtype[32]; /* a name of torch, "bfloat16"; empty: not known */
    int rank;
    int64_t dim[PROBLEM_MAX_RANK];
};

/* One call, or several equal ones. */
struct captured {
    char where[32]; /* its place in the file: "line 3", "event 12" */
    char operation[192];
    struct captured_tensor tensor[CAPTURED_TENSORS];
    int tensors; /* above CAPTURED_TENSORS: the others are not kept */
    /* sizes by name, of a workload */
    struct {
        char name[64];
        int64_t value;
    } axis[CAPTURED_AXES];
    int axes;
    char workload[64];
    int64_t calls;
};

struct captured_list {
    struct captured *item;
    int count, capacity;
    const char *form; /* of the file, in words */
};

/* Reads a file; its content says the form. Returns 0; or -1, `text` says why, and *is_usage tells whether the
 * file is wrong. */
int captured_read(struct captured_list *list, const char *path, bool *is_usage, char *text, size_t size);
void captured_clear(struct captured_list *list);

/* The configuration with these shapes, its choices the first that fit. False: there is none in the contract,
 * and `why` says so. */
bool captured_fit(const struct space *space, const struct captured *captured, struct config *config,
                  char *why, size_t size);

#endif
