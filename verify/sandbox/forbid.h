/* --forbid: libraries that a candidate must not use. It is judged by the contents of its object and by the
 * libraries its processes load, never by its source. One policy for the whole process, like the sandbox's
 * options. */
#ifndef UNSEEN_FORBID_H
#define UNSEEN_FORBID_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

void forbid_clear(void); /* nothing is forbidden any more, and nothing was used */

/* Adds words; call it before anything runs. Returns 0, or -1 with the unknown word in error. */
int forbid_add(const char *list, char *error, size_t error_size);

/* The words, separated by ", "; empty: nothing is forbidden. */
const char *forbid_words(void);

/* Sets the candidate's object: checks its names now, and from now on the processes that load it. Returns 0,
 * or -1 if it cannot be read; error says why. Does nothing if nothing is forbidden. */
int forbid_object(const char *object, char *error, size_t error_size);

/* Is it the object set by forbid_object? */
bool forbid_watches(const char *object);

/* Records kernels that a watched process has launched, "KERNEL TAB OBJECT LF" each, with the path of the
 * launching object; "": none. */
void forbid_launched(const char *lines);
/* Records whether launches are observed; `why` NULL: they are. */
void forbid_launches(const char *why);

struct forbid_uses {
    int count;        /* number of words whose use is proved */
    char text[320];   /* the evidence: "cublas: its object needs libcublas.so.12; ..." */
    bool blind;       /* the loaded libraries of some process could not be observed */
    int kernels;      /* number of distinct launched kernels; -1: not recorded */
    char unasked[80]; /* on a GPU: why they were not recorded */
};
struct forbid_uses forbid_uses(void);

/* --- forbid_watch.c: processes of a candidate --- */

struct forbid_watch;

/* Watches `pid` and its descendants; call it before they load `object`. Libraries loaded so far do not count.
 * NULL: there is nothing to watch. */
struct forbid_watch *forbid_watch_start(const char *object, pid_t pid);
/* Checks the current mappings; call it while the processes live. Accepts NULL, as does forbid_watch_stop. */
void forbid_watch_look(struct forbid_watch *watch);
void forbid_watch_stop(struct forbid_watch *watch);

#endif
