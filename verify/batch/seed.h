/* One seed for all rows of a batch that have none of their own: so their lanes share right answers. All
 * candidates exist before it is drawn. */
#ifndef UNSEEN_BATCH_SEED_H
#define UNSEEN_BATCH_SEED_H

#include "list.h"

/* Puts --seed in front of the options of every row without one: the seed of the lines in `resumed`, the file
 * that the batch goes on with (NULL: there is none), else a new one. Returns 0, or -1 with an error text. */
int batch_seed_share(struct batch_list *list, const char *resumed, char *error, size_t error_size);

#endif
