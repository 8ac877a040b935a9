/* The GPU that this process and its children see. A candidate must not use other GPUs, and a driver starts
 * faster with one GPU than with eight. Every thread starts on device 0, which is right if it is the only
 * one. */
#ifndef UNSEEN_CUDA_VISIBLE_H
#define UNSEEN_CUDA_VISIBLE_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Selects GPU `number` of those given to this process; it is number 0 from then on. Call it before CUDA or
 * anything else reads the environment. False: another GPU was selected before, CUDA_VISIBLE_DEVICES has
 * fewer, or out of memory. */
bool cuda_visible_choose(int number);
int cuda_visible_chosen(void); /* the selected number; below 0: none yet */

/* Restricts later processes to one GPU: its UUID for CUDA_VISIBLE_DEVICES, and N of its /dev/nvidiaN. Below
 * 0: unknown, so the nodes of all GPUs stay visible. */
void cuda_visible_set(const char *uuid, int node);
void cuda_visible_all(void); /* undoes that: all GPUs that this process sees */

const char *cuda_visible_uuid(void); /* NULL: all GPUs that this process sees */
int cuda_visible_node(void);         /* below 0: the nodes of all GPUs */
int cuda_visible_ordinal(int own);   /* the number in a child process of GPU `own` of this process */

/* N of /dev/nvidiaN from the driver's /proc/driver/nvidia/gpus; `bus` as cudaDeviceGetPCIBusId writes it.
 * Below 0: unknown. */
int cuda_visible_find_node(const char *bus);

#ifdef __cplusplus
}
#endif

#endif
