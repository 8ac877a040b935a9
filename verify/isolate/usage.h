/* What the processes of a candidate hold of the machine: the runner, and all that it started, however far removed. Counted
 * from outside and for these processes alone, since what the system bounds without privileges is either one process
 * (RLIMIT_AS, which also counts the addresses that CUDA reserves) or all of a user's (RLIMIT_NPROC). */
#ifndef UNSEEN_USAGE_H
#define UNSEEN_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct usage {
    double bytes; /* main memory that is theirs: anonymous, shared, swapped out */
    int tasks;    /* processes and threads */
};

/* `leader`: the process that stands for the runner. `lent`: bytes of shared memory that each of them may have from the
 * judge, which are not theirs. Counting ends once it is above `most`; pages that a fork shares count once by then. */
struct usage usage_of(pid_t leader, double lent, const struct usage *most);

/* Seconds until `most` can be reached from `now`. */
double usage_reach(const struct usage *now, const struct usage *most);

/* Above `most`, in words: what was found, and what is allowed, both beside what was there before. False: it is not. */
bool usage_exceeds(const struct usage *now, const struct usage *most, const struct usage *before, char *text,
                   size_t text_size);

/* Where --memory says nothing: half of the main memory that this process may have; and as many processes and threads as
 * several pools of one thread a core are, but not as many as a machine has. */
struct usage usage_default(void);
/* Of that what one of several workers may have: its part, but 4 GiB where that is less, or all. */
double usage_of_worker(int workers);

#endif
