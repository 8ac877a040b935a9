/* The table of the real bugs, tests/corpora/bugs/BUGS.tsv, which table.sh makes from the first lines of each. */
#ifndef UNSEEN_TESTS_BUGS_LIST_H
#define UNSEEN_TESTS_BUGS_LIST_H

#include <stdbool.h>

struct bug {
    char name[80], problem[40], kind[40], when[400]; /* `when`: a condition, condition.h */
    bool held_out;                                   /* for final figures only; the later collections, too */
    bool necessary;                                  /* fails only there, and not with every content */
};

/* All that have a condition, in the order of the table, into `list` (room for `most`). Runs in the repository root. Returns
 * how many, or -1 after a message on standard error. */
int bug_list(struct bug *list, int most);

#endif
