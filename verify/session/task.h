/* A verification task: problem, contract, sets, device and candidate. */
#ifndef UNSEEN_TASK_H
#define UNSEEN_TASK_H

#include "gen/draw/draw.h"
#include "verify/build/build.h"
#include "verify/device/calibrate.h"
#include "verify/device/device.h"
#include "verify/device/lease.h"
#include "verify/device/memory_gate.h"
#include "verify/torch/pool.h"

/* Options. Files are paths; NULL: the problem's own. */
struct task_options {
    const struct problem *problem;
    const char *device; /* "host", "cuda", "cuda:1"; NULL: a GPU if there is one */
    const char *space, *seen, *regress;
    const char *unseen_set;           /* file with the unseen set, instead of a drawn one; NULL: none */
    const char *candidate, *baseline; /* NULL: none; baseline "own": the problem's */
    const char *python, *entry; /* for a module: interpreter, class or function; NULL: found by default */
    double compile_timeout;     /* seconds; 0: 600 */
    double timeout_seconds;     /* for all timeouts of a run (timeout_budget.h) */
    int count;                  /* number of configurations of the unseen set */
    int scouts;                 /* number of small ones in addition, if the set is drawn */
    int directed;               /* at most so many more for conditions in the candidate's code; 0: none */
    int seen_most;              /* keep only this many of the seen set, the cheapest; 0: all */
    uint64_t seed;
    bool has_seed;                       /* else the seed comes from the system's entropy */
    struct shared_judge *shared;         /* values shared with earlier tasks; NULL: none */
    bool attend;                         /* as in struct lease_options */
    void (*waiting)(const char *path);   /* as in struct lease_options */
    void (*device_full)(double seconds); /* device_open_patiently; or NULL */
};

enum task_status {
    TASK_OK,
    TASK_INPUT,       /* the user's arguments are wrong */
    TASK_ENVIRONMENT, /* this machine cannot do it */
    TASK_INTERRUPTED
};

struct task {
    struct task_options options;
    const struct problem *problem;
    struct device device;
    struct lease *lease;      /* of the device; NULL if there is none */
    struct memory_gate *room; /* gate for its memory; likewise */
    /* options.shared has it, or else the task; NULL: expected values are computed here, or out of memory */
    struct oracle_pool *oracles;
    struct space space;
    struct config_list seen, frozen, given; /* given: from options.unseen_set */
    struct clue_list clues;                 /* of the candidate's code, if it was read */
    char seen_path[1024], space_path[1024];
    bool stands_in; /* seen is a smaller substitute of the published set, which is too large for the host */
    struct draw_caps caps;
    struct drawn_list seen_set, unseen_set;
    struct draw_notes notes;
    size_t drawing_notes;                         /* position in the notes where those about drawing begin */
    char commitment[65], directed_commitment[65]; /* of the unseen set, and of its directed part */
    uint64_t seed;
    struct build build, baseline; /* baseline: zero if none is given */
    char baseline_path[1400];     /* path of a baseline; empty: none */
    bool baseline_own;
    struct calibrated ceilings; /* after task_calibrate */
    double open_seconds, draw_seconds;
    bool uncompiled; /* after TASK_INPUT of task_build: the candidate does not compile */
    char error
        [4096]; /* after TASK_INPUT and TASK_ENVIRONMENT: what was found, what was expected, what to do */
};

/* Draws a seed from the system's entropy. False: there is none. */
bool task_draw_seed(uint64_t *seed);

/* Call these in this order, as far as needed. task_clear is safe after any of them. The first opens problem
 * and device. */
enum task_status task_open(struct task *task, const struct task_options *options);
/* Determines the hardware's ceilings, for timing. `peaks`: the file; NULL: the machine's own. */
enum task_status task_calibrate(struct task *task, const char *peaks);
enum task_status task_contract(struct task *task); /* reads space, seen, frozen */
enum task_status
task_judge(struct task *task); /* builds the judge of a problem in a folder, for the device */
enum task_status task_build(struct task *task); /* builds candidate and baseline */
enum task_status task_draw(struct task *task);  /* draws both sets */
/* Builds the candidate once more, for its coverage (build.h); nothing of the task changes. */
enum build_status task_build_coverage(const struct task *task, struct build *build, char *error,
                                      size_t error_size);
/* parses one line */
enum task_status task_config(struct task *task, const char *line, struct config *config);
void task_clear(struct task *task);

/* Path of the file of regressions: `given`; else NAME.regress in the problem's folder, or in shapes/. For the
 * own problems of an installed tool it is in the user's folder ($XDG_DATA_HOME/unseen). In that case the
 * result is true, and the folder may not exist yet. The function task_contract reads that file and the
 * installed one. */
bool task_regress(const struct problem *problem, const char *given, char *path, size_t size);

/* Limits on one configuration on the device. */
struct draw_caps task_caps(const struct problem *problem, const struct device *device);

#endif
