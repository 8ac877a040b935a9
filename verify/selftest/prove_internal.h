#ifndef UNSEEN_PROVE_INTERNAL_H
#define UNSEEN_PROVE_INTERNAL_H

#include "verify/problem/folder.h"
#include "gen/draw/draw.h"
#include "gen/random/pcg.h"
#include "prove.h"
#include "verify/build/build.h"
#include "layout.h"
#include "verify/session/session.h"

/* The text for what DATA_EXACT promises. */
#define PROMISED "sums that are exact in any order, as the class promises (DATA_EXACT)"

/* A drawn configuration for all checks. */
struct prove_case {
    struct config config;
    int class;
    bool nulls; /* null outputs are tried on it: one per class */
};

struct proof {
    const struct prove_options *options;
    const struct problem *problem;
    const struct memory *memory;
    struct prove_report *report;
    struct judgement judgement[PROBLEM_MAX_TENSORS];
    int judgements, classes;
    struct space space;
    struct config_list seen, host_seen;
    struct prove_case *cases;
    int case_count;
    struct draw_caps caps; /* limits of a small configuration */
    struct pcg *pcg;
    struct build baseline; /* for prove_baseline */
    enum prove_status status;
};

/* Records an error. Every function that can fail for reasons of ours calls it and returns false. */
bool prove_break(struct proof *p, enum prove_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for an error of memory.h or reference/. */
bool prove_broke(struct proof *p, const char *what, int error);

/* Counts a check, and a failed one. `config` NULL: no configuration shows it. */
void prove_ask(struct proof *p, enum prove_check check, int64_t count);
void prove_fail(struct proof *p, enum prove_check check, const struct config *config, const char *expected,
                const char *format, ...) __attribute__((format(printf, 5, 6)));
void prove_says(struct proof *p, enum prove_check check, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void prove_progress(const struct proof *p, const char *part, int done, int total);
bool prove_interrupted(struct proof *p);
/* Sets the number of threads for a configuration: sharing out work of milliseconds would make it slower. */
void prove_threads(const struct proof *p, double flops);

/* The parts in their order. */
bool prove_contract(struct proof *p);  /* prove_contract.c: judgements, .space, .seen */
bool prove_draw(struct proof *p);      /* prove_draw.c: the cases */
bool prove_instances(struct proof *p); /* prove_instances.c */
bool prove_outputs(struct proof *p);   /* prove_outputs.c: enclosure, right, off, nulls, sensitivity */
bool prove_kernels(struct proof *p);   /* prove_kernels.c */
/* A session with the baseline, for its outputs; NULL: not available, as prove_kernels reports. */
struct session *prove_baseline(struct proof *p);
bool prove_pinned(struct proof *p); /* prove_pinned.c */
bool prove_tell(struct proof *p);   /* prove_telling.c: evaluates the classes' figures */

/* Is any output right or wrong, without a distance? */
bool prove_is_discrete(const struct proof *p);

/* Index of a configuration's input class. */
int prove_class_of(const struct config *config);

/* --- prove_value.c: elements of a tensor in host memory --- */

double value_get(enum dtype dtype, const void *data, int64_t i);
void value_set(enum dtype dtype, void *data, int64_t i, double value); /* rounded to nearest */
/* Stores the representable value at least as far from `from` as `target`, on the same side; if both are
 * equal, the next value. False: there is no finite one. */
bool value_set_outside(enum dtype dtype, void *data, int64_t i, double from, double target);
/* Stores the value furthest from `from` but not beyond `target`; false: there is none on that side. */
bool value_set_inside(enum dtype dtype, void *data, int64_t i, double from, double target);
/* Stores an adjacent value instead of the current one. */
void value_change(enum dtype dtype, void *data, int64_t i);

#endif
