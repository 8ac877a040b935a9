/* PCG random streams behind a C interface (the generator itself is libpcg-cpp's pcg64). */
#ifndef UNSEEN_PCG_H
#define UNSEEN_PCG_H

#include <stdint.h>

#include "problems/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pcg; /* opaque */

/* Opens the stream of (seed, purpose). Streams of different purposes are independent, so an additional draw
 * from one stream never changes another. `purpose` is any text, such as "softmax/unseen/random". */
struct pcg *pcg_new(uint64_t seed, const char *purpose); /* NULL: out of memory */
void pcg_free(struct pcg *pcg);
uint64_t pcg_next(struct pcg *pcg);                  /* 64 uniform bits */
uint64_t pcg_below(struct pcg *pcg, uint64_t bound); /* uniform in [0, bound), no bias; bound > 0 */
double pcg_unit(struct pcg *pcg);                    /* uniform in [0, 1), 53 bits */
struct random pcg_random(struct pcg *pcg);           /* the interface that problem code uses */

#ifdef __cplusplus
}
#endif

#endif
