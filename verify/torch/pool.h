/* A pool of oracles that sessions share one after the other, and the answers of all of them. A start takes
 * seconds (an interpreter imports torch), and an answer often less. */
#ifndef UNSEEN_ORACLE_POOL_H
#define UNSEEN_ORACLE_POOL_H

#include "oracle.h"

struct oracle_pool;

/* `processes` share the machine's memory and have pools for many candidates. Their answers have an eighth of
 * the main memory, at most 8 GB, together. 0: a pool of one candidate, whose answers have a 64th, at most
 * 0.5 GB. NULL when out of memory. */
struct oracle_pool *oracle_pool_open(int processes);
void oracle_pool_close(struct oracle_pool *pool); /* ends all idle oracles; NULL is fine */

/* Another candidate begins (answer_store.h: rounds). */
void oracle_pool_begin(struct oracle_pool *pool);

/* Begins to start oracles until `count` are idle, without waiting for them, and ends idle ones with other
 * options. Call it from the thread that opened the pool, since a process ends with the thread that started
 * it. */
void oracle_pool_prepare(struct oracle_pool *pool, const struct oracle_options *options, int count);

/* Like oracle_begin and oracle_end, but oracle_take prefers an idle oracle with the same options, and
 * oracle_give keeps the oracle for later. pool NULL: no pool. */
struct oracle *oracle_take(struct oracle_pool *pool, const struct oracle_options *options);
void oracle_give(struct oracle_pool *pool, struct oracle *oracle);

#endif
