/* No fault around a run loses anything: no process, no file, no lock, no result, and no verdict is wrong.
 * Each part runs the tool again and again on a tiny contract and breaks something else each time:
 *
 *     build/nothing-lost disk [N]       the n-th write, or that and all after it, finds the disk full
 *     build/nothing-lost memory [N]     the n-th allocation, or that and all after it, gets nothing
 *     build/nothing-lost kills [N]      judge, runner or sandbox is killed at a random moment
 *     build/nothing-lost verdicts [N]   one verdict after the other: nothing may grow
 *     build/nothing-lost process [N]    the same runs in one process
 *
 * N bounds the trials; doc/results/nothing-lost.md has the figures of whole runs. LOST_SEED chooses the
 * moments, LOST_DEVICE the device (host). With LOST_BESIDE other programs use it, too. Its memory is then
 * printed and not compared with the start's. The suite `lost` runs a few of each. */
#ifndef UNSEEN_TESTS_LOST_H
#define UNSEEN_TESTS_LOST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { LOST_HUNG = -1, LOST_SIGNAL = 1000 };

/* The end of a run: exit status, LOST_SIGNAL + signal, or LOST_HUNG; and its text on standard error. */
struct lost_run {
    int status;
    char *said;
    double seconds;
};

/* The kind of candidate. */
enum lost_candidate { LOST_RIGHT, LOST_WRONG, LOST_CANDIDATES };

/* A working directory, also TMPDIR, with a contract, and the candidates as source and as object; `programs`
 * is the folder of unseen. False after a message. */
bool lost_open(const char *programs);
/* Runs it once, undisturbed, for comparison with every later run. Returns seconds; below 0 after a
 * message. */
double lost_undisturbed(enum lost_candidate candidate, bool source);
void lost_close(void);
const char *lost_programs(void);
const char *lost_device(void); /* "host", or $LOST_DEVICE */

/* How to run the tool. */
struct lost_how {
    enum lost_candidate candidate;
    bool source, timing;  /* compiled by the tool; timed */
    const char *preload;  /* LD_PRELOAD, or NULL */
    const char *variable; /* "NAME=VALUE", or NULL */
};

/* Becomes the tool, in a child: standard output goes to out.txt, errors to `errors`. Called after fork. */
__attribute__((noreturn)) void lost_become(const struct lost_how *how, int errors);
/* Starts it; *errors is where its errors are read. */
pid_t lost_start(const struct lost_how *how, int *errors);
/* Reads its messages until it ends; kills it after `patience` seconds. */
struct lost_run lost_wait(pid_t pid, int errors, double patience);
void lost_forget(struct lost_run *run);

/* --- checks of the files of a run: each returns NULL, or a message --- */

/* Verdict, every result and the lines of the CSV are those of the undisturbed run. */
const char *lost_same(const struct lost_how *how, const struct lost_run *run);
/* Files are empty, or have a whole result that is partial, or that of the undisturbed run. */
const char *lost_whole(const struct lost_how *how);
/* No process, once the tool has ended. */
const char *lost_no_process(void);
/* No directory or temporary file of the tool's. After a kill an unfinished one may stay for a minute. */
const char *lost_no_file(bool killed);

/* Prints "PART: trial N: what" and counts it. */
void lost_complain(const char *part, long trial, const struct lost_run *run, const char *what);
int lost_complaints(void);

/* A stream of numbers from LOST_SEED (default 1). */
uint64_t lost_random(void);

/* The parts; each returns its number of complaints. `most` 0: all trials. */
int lost_disk(long most);
int lost_memory(long most);
int lost_kills(long most);
int lost_verdicts(long most);
int lost_process(long most);

#endif
