/* Which GPU this process and those that it starts see. A candidate has no business with the others, a driver that finds one GPU is
 * ready sooner than one that finds eight, and whatever thread it is begins with number 0, where that is the only one. */
#ifndef UNSEEN_VISIBLE_H
#define UNSEEN_VISIBLE_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Before CUDA is first used here, and by whoever reads the environment: of the GPUs that this process was given the one of that
 * number, which is number 0 from then on. False: another was chosen before, there are not so many in CUDA_VISIBLE_DEVICES, or no memory. */
bool visible_choose(int number);
int visible_chosen(void); /* by which number; below 0: by none yet */

/* From now on one: its UUID as CUDA_VISIBLE_DEVICES takes it, and N of its /dev/nvidiaN; below 0: nobody knows, so that the nodes of
 * all are shown. */
void visible_set(const char *uuid, int node);
void visible_all(void); /* after all: what this process sees */

const char *visible_uuid(void); /* NULL: all that this process sees */
int visible_node(void);         /* below 0: those of all */
int visible_ordinal(int own);   /* of the GPU that is this one here, there */

/* N of /dev/nvidiaN, by the driver's /proc/driver/nvidia/gpus; `bus` as cudaDeviceGetPCIBusId writes it. Below 0: it does not say. */
int visible_find_node(const char *bus);

#ifdef __cplusplus
}
#endif

#endif
