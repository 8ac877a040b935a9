/* Starting the runner's process, inside bubblewrap or not: used by child.c. */
#ifndef UNSEEN_CHILD_INTERNAL_H
#define UNSEEN_CHILD_INTERNAL_H

#include <sys/resource.h>
#include <sys/types.h>

#include "child.h"
#include "usage.h"

/* --- child_sandbox.c --- */

/* Should the next child of this backend be started inside bubblewrap? Probes once per process. */
bool sandbox_use(enum backend backend);
/* A child came up inside: from now on failing inside is never a reason to start one outside. */
void sandbox_confirm(enum backend backend);
bool sandbox_confirmed(enum backend backend);
/* It does not work for this backend and is not tried again; `why` is for the report. */
void sandbox_reject(enum backend backend, const char *why);

/* --- child_spawn.c --- */

struct spawned {
    pid_t pid;             /* the runner, or the bubblewrap that holds it; leader of its session */
    int pidfd;             /* readable when it ends; -1 where the kernel has none */
    int channel;           /* this side's end */
    int output;            /* what it prints; non-blocking */
    struct zygote *zygote; /* what has forked it, and `pid` is that one's; NULL: nothing has */
};

/* Returns 0; -1 with text. */
int child_spawn(struct spawned *spawned, const struct child_options *options, bool sandboxed, char *text,
                size_t text_size);
/* Any other process, its descriptor 3 and its output as the runner's, its files bounded. 0, or an errno. */
int spawn_process(struct spawned *spawned, const char *const *argv, char *const *environment, rlim_t file);
/* Bytes of a file of a candidate's; where compilers run, as in verify/build. */
#define CHILD_FILE_LIMIT ((rlim_t)64 << 20)
#define CHILD_COMPILER_FILE_LIMIT ((rlim_t)1 << 30)
/* Wait for the end of the process and reap it: `patience_ms` for it to end by itself, then it is
 * killed.
 * Returns the wait status. */
int child_reap(struct spawned *spawned, int patience_ms);

/* --- child_python.c --- */

struct sandbox;
void spawn_python_show(struct sandbox *sandbox, const struct python *python);
/* Words from malloc; how many, at most 16. */
int spawn_python_environment(char **environment, const struct python *python, int threads);

/* --- child.c: child_start in steps --- */

/* The process, of which nothing is awaited yet. NULL with text. */
struct child *child_begin(const struct child_options *options, bool sandboxed, char *text, size_t text_size);
/* Has one of them started, so that it is known how others do? */
bool child_is_settled(enum backend backend, bool inside);
/* Its first words, and its device. */
enum child_status child_greet(struct child *child, const struct child_options *options, char *text,
                              size_t text_size);
/* The candidate; from here on it is watched. */
enum child_status child_load(struct child *child, const struct child_options *options, char *text,
                             size_t text_size);

/* --- child_wait.c --- */

/* The judge's part of arena.h. */
struct arena {
    uint64_t base;   /* 0: there is none */
    int listener;    /* by which the kernel asks */
    bool awaited;    /* the next answer may bring it */
    uint64_t place;  /* where one mapping is let pass, */
    uint64_t mapped; /* and its bytes; 0: none */
};

struct child {
    struct spawned process;
    struct arena arena;
    struct forbid_watch *forbid; /* NULL: nothing is forbidden to it */
    enum backend backend;
    bool sandboxed;
    bool forked;    /* by a zygote, which tells its own status and not that of a sandbox; only modules are */
    int log;        /* descriptor, -1: none */
    size_t logged;  /* bytes in the log */
    char head[256]; /* the first bytes printed */
    size_t head_bytes;
    struct child_fault fault;
    struct watch *watch;       /* at what its processes hold; NULL: nobody looks */
    double lent[CHANNEL_SETS]; /* bytes of the judge's that are mapped there */
};

/* Send a request (with a descriptor when fd >= 0), wait for its answer. CHILD_OK: a DONE or
 * RETURNED reply, as the request asks for. Otherwise text says why and the process is gone. */
enum child_status child_exchange(struct child *child, struct request *request, int fd, double timeout,
                                 struct reply *reply, char *text, size_t text_size);
/* Wait for the answer with this sequence; kind: which of DONE and RETURNED is legal. */
enum child_status child_wait(struct child *child, uint32_t sequence, enum reply_kind kind, double timeout,
                             struct reply *reply, char *text, size_t text_size);
/* Of what the process under test wrote; empty where it wrote nothing. */
void child_copy_words(const struct reply *reply, char *text, size_t text_size);
/* Copy what was printed into the log, without waiting. */
void child_drain(struct child *child);

/* --- child_arena.c --- */

/* An answer of the runner's, with the arena's descriptor where it brings one. Like recv without waiting. */
ssize_t child_arena_receive(struct child *child, struct reply *reply);
/* From now on one mapping into this slot may pass, as the runner makes it. */
void child_arena_permit(struct child *child, unsigned slot, uint64_t mapped);
/* What the kernel asks, if it does. */
void child_arena_answer(struct child *child);
void child_arena_close(struct child *child);

/* --- child_watch.c --- */

enum { CHILD_EXCESS = 160 };

/* From now on its processes may hold so many bytes together beside what they hold already, and so many more of them may be as
 * usage_default says; above that they are ended. False: no memory, or no thread, to look with. */
bool child_watch(struct child *child, double memory);
/* So many bytes of the judge's are mapped there now. */
void child_watch_lent(struct child *child, double bytes);
/* Before it is reaped. True: it was ended for what it held; `excess` says what. */
bool child_unwatch(struct child *child, char *excess, size_t excess_size);

#endif
