/* A verification task: problem, contract, sets, device and candidate. */
#ifndef UNSEEN_TASK_H
#define UNSEEN_TASK_H

#include "gen/draw/draw.h"
#include "verify/build/build.h"
#include "verify/calibrate/calibrate.h"
#include "verify/device/device.h"
#include "verify/device/lease.h"
#include "verify/device/room.h"
#include "verify/oracle/pool.h"

/* What is asked for. Files are paths; NULL: the problem's own. */
struct task_options {
    const struct problem *problem;
    const char *device; /* "host", "cuda", "cuda:1"; NULL: a GPU where there is one */
    const char *space, *seen, *regress;
    const char *unseen_set; /* a file that the unseen set is, in the place of a drawn one; NULL: none */
    const char *candidate, *baseline; /* NULL: none; a baseline "own": the problem's */
    const char *python, *entry;       /* of a module: interpreter, class or function; NULL: what is found */
    double compile_timeout;           /* seconds; 0: 600 */
    int count;                        /* configurations of the unseen set */
    int scouts;                       /* beside them, where the set is drawn */
    int seen_most;                    /* of the seen set so many, those of least work; 0: all */
    uint64_t seed;
    bool has_seed;                       /* else the system's entropy */
    bool attend;                         /* as in struct lease_options */
    void (*waiting)(const char *path);   /* likewise */
    void (*device_full)(double seconds); /* device_open_patiently; or NULL */
};

enum task_status {
    TASK_OK,
    TASK_INPUT,       /* something that was given is wrong */
    TASK_ENVIRONMENT, /* this machine cannot do it */
    TASK_INTERRUPTED
};

struct task {
    struct task_options options;
    const struct problem *problem;
    struct device device;
    struct lease *lease;         /* of the device; NULL where none can be had */
    struct room *room;           /* of its memory; likewise */
    struct oracle_pool *oracles; /* NULL: the right answers come from here, or there is no memory */
    struct space space;
    struct config_list seen, frozen, given; /* given: of options.unseen_set */
    char seen_path[1024], space_path[1024];
    bool stands_in; /* seen is smaller than the published set, which is too much for the host */
    struct draw_caps caps;
    struct drawn_list seen_set, unseen_set;
    struct draw_notes notes;
    size_t drawing_notes; /* where the notes about drawing begin in their text */
    char commitment[65];
    uint64_t seed;
    struct build build, baseline; /* baseline: where one is given, else zero */
    char baseline_path[1400];     /* of a baseline; empty: none */
    bool baseline_own;
    struct calibrated ceilings; /* after task_calibrate */
    double open_seconds, draw_seconds;
    bool uncompiled; /* after TASK_INPUT of task_build: the compiler said no to the candidate */
    char error
        [4096]; /* what was found, what was expected, what to do: after TASK_INPUT and TASK_ENVIRONMENT */
};

/* In this order, as far as they are needed. task_clear is safe after any of them. */
enum task_status task_open(struct task *task, const struct task_options *options); /* problem and device */
/* What the hardware can do, for whoever takes times. `peaks`: the file; NULL: the machine's own. */
enum task_status task_calibrate(struct task *task, const char *peaks);
enum task_status task_contract(struct task *task); /* space, seen, frozen */
enum task_status
task_judge(struct task *task); /* what judges results on the device, of a problem in a folder */
enum task_status task_build(struct task *task); /* the same, candidate and baseline */
enum task_status task_draw(struct task *task);  /* both sets */
enum task_status task_config(struct task *task, const char *line, struct config *config); /* parse one line */
void task_clear(struct task *task);

/* Where failures are frozen: `given`; NAME.regress in the problem's folder, or in shapes/; where the tool is installed, of its own
 * problems, in the user's folder ($XDG_DATA_HOME/unseen): true, and that folder may have to be made. task_contract reads that and
 * the installed one. */
bool task_regress(const struct problem *problem, const char *given, char *path, size_t size);

/* What one configuration may take on the device. */
struct draw_caps task_caps(const struct problem *problem, const struct device *device);

#endif
