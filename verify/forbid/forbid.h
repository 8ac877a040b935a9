/* --forbid: what a candidate may not use, judged by what its object holds and by what its processes load, and never by its
 * source. One policy for the whole process, like the sandbox's options. */
#ifndef UNSEEN_FORBID_H
#define UNSEEN_FORBID_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Before anything runs. 0; -1: error says which word of the list is unknown. */
int forbid_add(const char *list, char *error, size_t error_size);

/* The words with ", " between them; empty: nothing is forbidden. */
const char *forbid_words(void);

/* The candidate's object: its names are looked at now, and from now on the processes that load it. 0; -1: error says why
 * it cannot be read. Nothing happens where nothing is forbidden. */
int forbid_object(const char *object, char *error, size_t error_size);

/* Is it the one that was looked at? */
bool forbid_watches(const char *object);

/* Kernels that a process has launched: "KERNEL TAB OBJECT LF" each, the path of the object that asked for it; "": none. Of
 * nobody but whoever is watched. */
void forbid_launched(const char *lines);
/* Are they asked for? `why` NULL: yes. */
void forbid_launches(const char *why);

struct forbid_uses {
    int count;        /* of words whose use is proved */
    char text[320];   /* how: "cublas: its object needs libcublas.so.12; ..." */
    bool blind;       /* what a process of the candidate has loaded could not be seen */
    int kernels;      /* names of kernels launched; -1: nobody has asked */
    char unasked[80]; /* why not, on a GPU */
};
struct forbid_uses forbid_uses(void);

/* --- watch.c: a candidate's processes --- */

struct forbid_watch;

/* `pid` and its descendants, before they load `object`; what they have loaded by now does not count. NULL: there is
 * nothing to watch. */
struct forbid_watch *forbid_watch_start(const char *object, pid_t pid);
/* While they live: looks at what is mapped. NULL is fine here and below. */
void forbid_watch_look(struct forbid_watch *watch);
void forbid_watch_stop(struct forbid_watch *watch);

#endif
