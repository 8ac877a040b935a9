/* A verification task: problem, contract, sets, device and candidate, from the command line. */
#ifndef UNSEEN_TASK_H
#define UNSEEN_TASK_H

#include "gen/draw/draw.h"
#include "verify/build/build.h"
#include "verify/device/device.h"
#include "verify/device/lease.h"
#include "verify/cli/options.h"

struct task {
    const struct problem *problem;
    struct device device;
    struct lease *lease; /* of the device; NULL where none can be had */
    struct space space;
    struct config_list seen, frozen;
    char seen_path[1024], space_path[1024];
    struct draw_caps caps;
    struct drawn_list seen_set, unseen_set;
    struct draw_notes notes;
    char commitment[65];
    uint64_t seed;
    struct build build, baseline; /* baseline: --baseline, else zero */
    double draw_seconds;
};

/* Each returns 0 or an exit status after printing an error. task_clear is safe after any of them. */
int task_open(struct task *task, const struct options *options);                   /* problem and device */
int task_contract(struct task *task, const struct options *options);               /* space, seen, frozen */
int task_draw(struct task *task, const struct options *options);                   /* both sets */
int task_config(const struct task *task, const char *line, struct config *config); /* parse one line */
int task_build(struct task *task, const struct options *options); /* candidate and baseline */
void task_clear(struct task *task);

/* Where the frozen failures are: --regress, or NAME.regress in shapes/ or in the problem's folder. False: there are none, and path is
 * where they would be. */
bool task_regress(const struct problem *problem, const struct options *options, char *path, size_t size);

/* What one configuration may take on the device. */
struct draw_caps task_caps(const struct problem *problem, const struct device *device);

#endif
