/* A bounded store of answers by a keyed hash of their questions. Any number of threads may use it. */
#ifndef UNSEEN_ANSWER_STORE_H
#define UNSEEN_ANSWER_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

struct answer_key {
    unsigned char bytes[16];
};

struct answer_store;
struct question_hash;

/* `guarded`: an answer that was used in the current round or the guarded - 1 rounds before is never
 * dropped for another. Candidates of one task repeat their questions in the same order. If these exceed the
 * store, dropping the least recently used answer would drop each one just before its use. 0: none is.
 * NULL when out of memory. */
struct answer_store *answer_store_open(size_t bytes, int guarded);
void answer_store_close(struct answer_store *store); /* NULL is fine */
void answer_store_begin_round(struct answer_store *store);

/* The hash is UMAC with a random key of the store. A candidate, some of whose results are part of questions,
 * cannot aim at a collision. NULL when out of memory. */
struct question_hash *question_hash_open(const struct answer_store *store);
void question_hash_add(struct question_hash *hash, const void *bytes, size_t size);
struct answer_key question_hash_close(struct question_hash *hash);
bool answer_key_is(const struct answer_key *a, const struct answer_key *b);

/* Copies the answer of `key` into the parts, in order, as far as it goes. Returns its bytes; 0: there is
 * none, or it is longer than the parts. */
size_t answer_store_take(struct answer_store *store, const struct answer_key *key, const struct iovec *part,
                         int parts);
/* Keeps a copy of the parts, unless they are more than an eighth of the store, or all answers are
 * protected. */
void answer_store_keep(struct answer_store *store, const struct answer_key *key, const struct iovec *part,
                       int parts);

#endif
