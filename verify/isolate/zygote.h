/* Interpreters that have loaded their libraries and fork for every start of a candidate (runner_zygote.c). One has at most one
 * process at work; one that has none is kept for the next start, of whichever thread. */
#ifndef UNSEEN_ZYGOTE_H
#define UNSEEN_ZYGOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct zygote;

/* How one is started, and what it is kept by: equal keys, equal zygotes. */
struct zygote_plan {
    const char *key;
    const char *const *argv;
    char *const *environment;
};

/* A free one with this key, or a new one. NULL: text says why. */
struct zygote *zygote_take(const struct zygote_plan *plan, char *text, size_t text_size);
/* A new process with these for its channel and its output; they stay the caller's. Its pidfd, or -1 with text. */
int zygote_start(struct zygote *zygote, int channel, int output, char *text, size_t text_size);
/* Ends the process and all that it has started. Returns its wait status; the zygote goes back. */
int zygote_give(struct zygote *zygote);
pid_t zygote_pid(
    const struct zygote *zygote); /* of it, or of the bubblewrap that holds it; leads its session */
/* Ends all whose key begins so; NULL: all. */
void zygote_end_all(const char *key);

#endif
