/* Generates new input draws for call after call, at the cost of a copy.
 *
 * An input draw is a base (drawn by the problem's class), rotated: tensors whose elements all have one
 * distribution begin at another element. A near duplicate also has one element replaced. A candidate that
 * recognizes inputs by a sample of their values, by addresses or by a few rows then returns answers to other
 * inputs. A sample of s of n elements misses one element with probability 1 - s/n: 0.9 for a tenth of all. */
#ifndef UNSEEN_SESSION_CONTENT_H
#define UNSEEN_SESSION_CONTENT_H

#include "gen/random/pcg.h"
#include "problems/problem.h"
#include "verify/device/memory.h"

/* The element in which a near duplicate differs from the preceding draw. */
struct near {
    bool present;
    int tensor;
    int64_t element; /* index without padding */
    int64_t place;   /* memory offset in elements */
    unsigned char value[8], was[8];
};

struct content {
    int base;                          /* number of the base draw */
    int64_t turn[PROBLEM_MAX_TENSORS]; /* first element of each tensor's rotation */
    struct near near;
};

/* Chooses another rotation of every tensor that can be rotated. */
void content_turn(const struct problem *problem, const struct instance *instance, struct pcg *random,
                  struct content *content);

/* Chooses the element to replace; near->present is false if no tensor has one. Only tensors drawn element by
 * element from one distribution take part, without undefined storage. */
void content_choose_near(const struct problem *problem, const struct instance *instance, struct pcg *random,
                         struct near *near);

/* Copies the largest of `count` elements from offset `from` on, in host memory, as stored; skips undefined
 * storage. False if all of it is undefined. */
bool content_greatest(const struct instance_tensor *tensor, enum dtype dtype, const void *stretch,
                      int64_t from, int64_t count, void *to);

/* Replacement for an element of a near duplicate: a new value of the same distribution; the negated value; or
 * a slightly larger one. The latter two expose keys that omit signs or low bits, and are used only if the
 * distribution contains them. The value is in stored form. Returns false, and keeps it, if there is no
 * replacement. */
enum near_kind { NEAR_OTHER, NEAR_SIGN, NEAR_BITS, NEAR_KINDS };
bool content_alter(const struct fill *fill, enum dtype dtype, enum near_kind kind, void *value);

/* Writes the element of a near duplicate into one copy of its tensor. Returns 0 or the backend's error. */
int content_put_near(const struct memory *memory, const struct problem *problem, const struct near *near,
                     void *base);

/* "x[3, 17]: 0.25 -> 3.5" */
void content_describe_near(const struct problem *problem, const struct instance *instance,
                           const struct near *near, char *text, size_t size);

/* Is another drawn tensor gathered from rows of tensor t? */
bool content_is_gathered_from(const struct problem *problem, const struct instance *instance, int t);

/* Bytes of tensors that the host draws for every device: tables, permutations, tensors computed by a task. */
double content_given_bytes(const struct problem *problem, const struct instance *instance);

/* Does a rotation renew most of the drawn elements? */
bool content_turns(const struct problem *problem, const struct instance *instance);

#endif
