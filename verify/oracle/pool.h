/* Oracles that go from one session to the next: starting one (an interpreter that imports torch) takes seconds, answering often less. */
#ifndef UNSEEN_ORACLE_POOL_H
#define UNSEEN_ORACLE_POOL_H

#include "oracle.h"

struct oracle_pool;

struct oracle_pool *oracle_pool_open(void);       /* NULL when out of memory */
void oracle_pool_close(struct oracle_pool *pool); /* with all that were given back; NULL is fine */

/* So many more that start now, while the caller does something else. By the thread that opened the pool: a process ends with the
 * thread that started it. */
void oracle_pool_prepare(struct oracle_pool *pool, const struct oracle_options *options, int count);

/* As oracle_begin and oracle_end do, but for one that is there already, and for the next who takes one of the same options.
 * pool: NULL where there is none. */
struct oracle *oracle_take(struct oracle_pool *pool, const struct oracle_options *options);
void oracle_give(struct oracle_pool *pool, struct oracle *oracle);

#endif
