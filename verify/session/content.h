/* Ever new contents for call after call, made in the time that it takes to copy them.
 *
 * A content is a base (drawn by the problem's class), turned: what is drawn alike at every place starts somewhere else;
 * and in a near duplicate one element is another. Whoever recognizes inputs by a sample of them, by their addresses or by
 * a few rows meets answers that are not theirs. One element of n is missed by a sample of s with probability 1 - s/n:
 * 0.9 at a tenth of all. */
#ifndef UNSEEN_SESSION_CONTENT_H
#define UNSEEN_SESSION_CONTENT_H

#include "gen/random/pcg.h"
#include "problems/problem.h"

/* In which a near duplicate differs from the content before. */
struct near {
    bool present;
    int tensor;
    int64_t element; /* as elements are numbered, without gaps */
    int64_t place;   /* where it lies in memory, in elements */
    unsigned char value[8], was[8];
};

struct content {
    int base;                          /* number of the drawn content */
    int64_t turn[PROBLEM_MAX_TENSORS]; /* element at which each tensor begins */
    struct near near;
};

/* Another turn of every tensor that can be turned. */
void content_turn(const struct problem *problem, const struct instance *instance, struct pcg *random,
                  struct content *content);

/* Which element is to be another; near->present is false where no tensor has one: only tensors that are drawn element by
 * element by one law take part, and storage that no defined element uses does not. */
void content_choose_near(const struct problem *problem, const struct instance *instance, struct pcg *random,
                         struct near *near);

/* The greatest of `count` elements that lie from place `from` on, in host memory, as it is stored; what no defined element uses is
 * passed over. False where that is all. */
bool content_greatest(const struct instance_tensor *tensor, enum dtype dtype, const void *stretch,
                      int64_t from, int64_t count, void *to);

/* What a near duplicate has in the place of a value: one that is drawn like it; the same of the other sign, or a little greater,
 * where that is drawn like it, too, for keys that leave out signs or low bits. Value as it is stored; returns false, and leaves
 * it, where the law knows no such. */
enum near_kind { NEAR_OTHER, NEAR_SIGN, NEAR_BITS, NEAR_KINDS };
bool content_alter(const struct fill *fill, enum dtype dtype, enum near_kind kind, void *value);

/* "x[3, 17]: 0.25 -> 3.5" */
void content_describe_near(const struct problem *problem, const struct instance *instance,
                           const struct near *near, char *text, size_t size);

/* Does another drawn tensor repeat rows of tensor t? */
bool content_is_gathered_from(const struct problem *problem, const struct instance *instance, int t);

/* Of tensors that a processor draws on any device: tables, permutations, what a task computes. */
double content_given_bytes(const struct problem *problem, const struct instance *instance);

/* Does turning renew most of what is drawn? */
bool content_turns(const struct problem *problem, const struct instance *instance);

#endif
