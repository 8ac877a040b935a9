/* The clues of a candidate, whatever its language. */
#ifndef UNSEEN_CANDIDATE_CLUES_H
#define UNSEEN_CANDIDATE_CLUES_H

#include "gen/draw/clue.h"
#include "verify/build/build.h"

/* Lists the conditions and sizes in the code of a candidate that is built, without running it. `path` is the
 * candidate as the user named it. A built object (.so) has none. Returns 0, with a phrase in `why` if the
 * code could not be read (else it is empty); -1 when memory is out. */
int candidate_clues(struct clue_list *list, const struct build *build, const char *path, char *why,
                    size_t why_size);

#endif
