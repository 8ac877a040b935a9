/* Interpreters with loaded libraries that fork for every start of a candidate (runner_zygote.c). A zygote has
 * at most one running process. A free one is kept for the next start, by any thread. */
#ifndef UNSEEN_ZYGOTE_H
#define UNSEEN_ZYGOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct zygote;

/* How to start a zygote. Zygotes with equal keys are interchangeable. */
struct zygote_plan {
    const char *key;
    const char *const *argv;
    char *const *environment;
};

/* Returns a free zygote with this key, or a new one. NULL: text says why. */
struct zygote *zygote_take(const struct zygote_plan *plan, char *text, size_t text_size);
/* Starts a new process with this channel and output, which the caller keeps. Returns its pidfd, or -1 with
 * text. */
int zygote_start(struct zygote *zygote, int channel, int output, char *text, size_t text_size);
/* Kills the process and its descendants, and returns its wait status. The zygote becomes free. */
int zygote_give(struct zygote *zygote);
pid_t zygote_pid(
    const struct zygote *zygote); /* pid of the zygote or of the bubblewrap around it; leads its session */
/* Ends all zygotes whose key begins with `key`; NULL: all. */
void zygote_end_all(const char *key);

#endif
