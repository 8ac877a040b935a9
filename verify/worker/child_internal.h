/* Starting the runner process, with or without bubblewrap; used by child.c. */
#ifndef UNSEEN_CHILD_INTERNAL_H
#define UNSEEN_CHILD_INTERNAL_H

#include <sys/resource.h>
#include <sys/types.h>

#include "child.h"
#include "verify/sandbox/resource_usage.h"

/* --- child_sandbox.c --- */

/* Should the next child of this backend be started in bubblewrap? Probes once per process. */
bool sandbox_use(enum backend backend);
/* A child has started inside: from now on a failure inside is no reason to start one outside. */
void sandbox_confirm(enum backend backend);
bool sandbox_confirmed(enum backend backend);
/* Marks the sandbox as not working for this backend; `why` is for the report. */
void sandbox_reject(enum backend backend, const char *why);

/* --- child_spawn.c --- */

struct spawned {
    pid_t pid;             /* the runner, or the bubblewrap around it; leader of its session */
    int pidfd;             /* readable when it ends; -1 if the kernel lacks pidfds */
    int channel;           /* the judge's end */
    int output;            /* its standard output; non-blocking */
    struct zygote *zygote; /* the zygote that forked it, whose pid `pid` is; NULL: not forked */
};

/* Returns 0, or -1 with text. */
int child_spawn(struct spawned *spawned, const struct child_options *options, bool sandboxed, char *text,
                size_t text_size);
/* Starts any other process with a file size limit; descriptor 3 and output are as for the runner. Returns 0,
 * or an errno. */
int spawn_process(struct spawned *spawned, const char *const *argv, char *const *environment, rlim_t file);
/* Maximum file size of a candidate, and where compilers run, as in verify/build. */
#define CHILD_FILE_LIMIT ((rlim_t)64 << 20)
#define CHILD_COMPILER_FILE_LIMIT ((rlim_t)1 << 30)
/* Waits for the end of the process and reaps it; kills it after `patience_ms`. Returns the wait status. */
int child_reap(struct spawned *spawned, int patience_ms);

/* --- child_python.c --- */

struct sandbox;
void spawn_python_show(struct sandbox *sandbox, const struct python *python);
/* Adds words allocated by malloc; returns their number, at most 16. */
int spawn_python_environment(char **environment, const struct python *python, int threads);

/* --- child.c: child_start, step by step --- */

/* Starts the process without waiting for an answer. NULL with text on failure. */
struct child *child_begin(const struct child_options *options, bool sandboxed, char *text, size_t text_size);
/* Has one child started, so that it is known how others start? */
bool child_is_settled(enum backend backend, bool inside);
/* Receives its first message and opens its device. */
enum child_status child_greet(struct child *child, const struct child_options *options, char *text,
                              size_t text_size);
/* Loads the candidate; from here on its resources are watched. */
enum child_status child_load(struct child *child, const struct child_options *options, char *text,
                             size_t text_size);

/* --- child_wait.c --- */

/* The judge's state of the arena (arena.h). */
struct arena {
    uint64_t base;   /* 0: there is no arena */
    int listener;    /* descriptor on which the kernel asks about system calls */
    bool awaited;    /* the next reply may carry the descriptor */
    uint64_t place;  /* address of the permitted mapping, */
    uint64_t mapped; /* and its size in bytes; 0: no mapping is permitted */
};

struct child {
    struct spawned process;
    struct arena arena;
    struct forbid_watch *forbid; /* NULL: nothing is forbidden */
    enum backend backend;
    bool sandboxed;
    /* forked by a zygote, which reports the process's own status, not a sandbox's; modules only */
    bool forked;
    int log;        /* descriptor; -1: none */
    size_t logged;  /* bytes in the log */
    char head[256]; /* the first bytes printed */
    size_t head_bytes;
    struct child_fault fault;
    struct watch *watch;         /* watches the resources of its processes; NULL: not watched */
    double lent[CHANNEL_SETS];   /* bytes of the judge's memory that are mapped there */
    double kept;                 /* the same, of regions whose mappings stay */
    bool keeps[CHANNEL_REGIONS]; /* by the region's number: its mapping stays */
};

/* Sends a request (with a descriptor if fd >= 0) and waits for its reply. CHILD_OK: a DONE or RETURNED reply,
 * as the request requires. Otherwise text says why and the process is gone. */
enum child_status child_exchange(struct child *child, struct request *request, int fd, double timeout,
                                 struct reply *reply, char *text, size_t text_size);
/* Waits for the reply with this sequence number; `kind`: the legal kind, DONE or RETURNED. */
enum child_status child_wait(struct child *child, uint32_t sequence, enum reply_kind kind, double timeout,
                             struct reply *reply, char *text, size_t text_size);
/* Copies the text of the process under test; empty if it wrote none. */
void child_copy_words(const struct reply *reply, char *text, size_t text_size);
/* Copies its output into the log, without waiting. */
void child_drain(struct child *child);

/* --- child_arena.c --- */

/* Receives a reply of the runner, and the arena's descriptor if it carries one. Like recv without waiting. */
ssize_t child_arena_receive(struct child *child, struct reply *reply);
/* Permits one mapping into this slot, exactly as the runner makes it. */
void child_arena_permit(struct child *child, unsigned slot, uint64_t mapped);
/* Answers the kernel's question about a system call, if there is one. */
void child_arena_answer(struct child *child);
void child_arena_close(struct child *child);

/* --- child_watch.c --- */

enum { CHILD_EXCESS = 160 };

/* Starts watching: its processes may together use this many bytes more than they have now, and as many more
 * tasks as resource_usage_default says; beyond that they are killed. False: no memory or no thread to watch
 * with. */
bool child_watch(struct child *child, double memory);
/* Tells the watch how many bytes of the judge's memory are mapped there. */
void child_watch_lent(struct child *child, double bytes);
/* Ends the watch; call it before the process is reaped. True: it was killed for exceeding a limit, described
 * in `excess`. */
bool child_unwatch(struct child *child, char *excess, size_t excess_size);

#endif
