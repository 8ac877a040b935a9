/* A configuration that is being timed: its samples by several clocks, and their results. Internal to
 * sessions. */
#ifndef UNSEEN_TIMED_H
#define UNSEEN_TIMED_H

#include "series.h"

enum { LEAST_SAMPLES = 10, MOST_SAMPLES = 256, TIMED_CONTENT = 2 };
enum { FIRST_CALLS = 3 };
enum { PROCESSES_MOST = 24, OF_A_PROCESS = 20, SAMPLES_ROOM = MOST_SAMPLES + PROCESSES_MOST * OF_A_PROCESS };
enum { LEAST_EXCHANGES = 5 }; /* the fastest of them is not affected by other processes' load */
/* A configuration that is being timed. */
struct timed {
    struct timing_job *job;
    struct config config; /* with inputs of the published class */
    struct series series;
    double event_ms[SAMPLES_ROOM], wall_ms[SAMPLES_ROOM], tail_ms[SAMPLES_ROOM], rest_ms[SAMPLES_ROOM];
    int count;
    int processes;             /* number of further processes with samples, after the first */
    int begin[PROCESSES_MOST]; /* index of the first sample of each */
    double spent;              /* seconds, including the preparation of its calls */
    bool open, over;
    /* number of remaining warm-up calls in this process, which load and wake the device and are no samples */
    int entering;
    bool slow; /* the clock was low during timing */
    struct interval median;
};

/* The configuration with inputs of the published class. */
struct config timed_config(const struct config *config);

/* Makes one call, which becomes a sample unless it does not count. False: the series is over. */
bool timed_sample(struct session *s, struct timed *timed);

bool timed_is_tight(struct timed *timed); /* is the interval of its median narrow enough? */

/* Is its time so short that the placement of context and memory affects it? */
bool timed_is_short(const struct session *s, struct timed *timed);

/* Number of processes with a complete set of samples: the last one may have been cut off. */
int timed_processes(const struct timed *timed);
/* The median of one process's samples; for several processes the mean of their medians. */
struct interval timed_center(const struct timed *timed);

/* The next samples come from a new process. */
void timed_enter(struct timed *timed);

/* Do the clocks agree on the samples? If not, marks the session as disturbed or disbelieved. */
void timed_check(struct session *s, struct timed *timed);

/* Does work continue after the stop event? It is part of the time. */
bool timed_has_tail(const struct timed *timed);
void timed_add_tails(struct timed *timed);
/* Adds time that nobody in the candidate's process can hide: a candidate that lies pays for the exchange,
 * too. */
void timed_add_rests(struct timed *timed);

/* Describes how the times of sessions that are compared were measured. */
const char *timed_method(const struct session *s, bool has_tail);

/* Stores median, interval and bound in the job's result. */
void timed_summarize(const struct session *s, struct timed *timed);

/* Stores the failure of a series' calls in the result of the configuration, whose checks passed. */
void series_report_ended(const struct series *series, const struct worst *worst,
                         struct config_result *result);

/* Judges the kept outputs. False: they do not pass, as the job's result says, or cannot be judged. */
bool timed_judge(struct session *s, struct timed *timed);

#endif
