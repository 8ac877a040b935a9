/* A configuration that is being timed: its samples by several clocks, and what they come to. Internal to sessions. */
#ifndef UNSEEN_TIMED_H
#define UNSEEN_TIMED_H

#include "series.h"

enum { LEAST_SAMPLES = 10, MOST_SAMPLES = 256, TIMED_CONTENT = 2 };
enum { FIRST_CALLS = 3 };
enum { PROCESSES_MOST = 24, OF_A_PROCESS = 20, SAMPLES_ROOM = MOST_SAMPLES + PROCESSES_MOST * OF_A_PROCESS };
enum { LEAST_EXCHANGES = 5 }; /* the quickest of which says what the others' load does not */
/* A configuration that is being timed. */
struct timed {
    struct timing_job *job;
    struct config config; /* with inputs of the published kind */
    struct series series;
    double event_ms[SAMPLES_ROOM], wall_ms[SAMPLES_ROOM], tail_ms[SAMPLES_ROOM], rest_ms[SAMPLES_ROOM];
    int count;
    int processes;             /* that samples are from, after the first */
    int begin[PROCESSES_MOST]; /* the first sample of each */
    double spent;              /* seconds, with what was done for its calls */
    bool open, over;
    int entering; /* so many calls are still the first in this process, which load, and wake the device: no samples */
    bool slow; /* the clock was low while it was timed */
    struct interval median;
};

/* The configuration with inputs of the published kind. */
struct config timed_config(const struct config *config);

/* One call, which becomes a sample unless it is one of those that do not count. False: the series is over. */
bool timed_sample(struct session *s, struct timed *timed);

bool timed_is_tight(struct timed *timed); /* the interval of its median */

/* Is it so short that where its process's context and memory lie is seen in its time? */
bool timed_is_short(const struct session *s, struct timed *timed);

/* How many processes have all their samples: the last may have been cut off. */
int timed_processes(const struct timed *timed);
/* The median of one process's samples; of several the mean of their medians. */
struct interval timed_center(const struct timed *timed);

/* Its next samples are of a new process. */
void timed_enter(struct timed *timed);

/* Do the clocks agree on the samples? What does not add up marks the session: disturbed, or disbelieved. */
void timed_check(struct session *s, struct timed *timed);

/* Work goes on after the stop event, which is part of the time. */
bool timed_has_tail(const struct timed *timed);
void timed_add_tails(struct timed *timed);
/* What nobody in the candidate's process can shorten: whoever lies pays for the exchange, too. */
void timed_add_rests(struct timed *timed);

/* How the times of sessions were taken that are held against each other, in words. */
const char *timed_method(const struct session *s, bool has_tail);

/* Median, interval and bound, into the job's result. */
void timed_summarize(const struct session *s, struct timed *timed);

/* What the calls of a series that do not pass say of the configuration, whose checks passed. */
void series_report_ended(const struct series *series, const struct worst *worst,
                         struct config_result *result);

/* Judge what was kept of it; false where it does not pass, and the job's result says so, or cannot be told. */
bool timed_judge(struct session *s, struct timed *timed);

#endif
