/* Operands of a candidate's comparisons in its calls, and the sizes of the contract that they follow. */
#ifndef UNSEEN_OBSERVED_H
#define UNSEEN_OBSERVED_H

#include "branches.h"
#include "gen/contract/space.h"
#include "gen/draw/clue.h"
#include "tracing.h"

enum { OBSERVED_NAMES = 40, OBSERVED_SAMPLES = 32, FOLLOWED_MOST = 4 };

/* One call. */
struct observed_run {
    struct config config;
    struct clue clue; /* what the configuration was drawn for; no terms: nothing */
    bool known;       /* `value` is filled */
    int64_t value[OBSERVED_NAMES];
};

/* The least and the greatest operands in one call. */
struct operand_sample {
    int run;
    int64_t least[2], most[2];
};

struct observed_comparison {
    int branch[2]; /* both outcomes of the jump that it decides; -1: its result is stored instead */
    int relations; /* that occurred (coverage_map.h) */
    int reached;   /* calls that reached it */
    int base;      /* the first of them; -1: none */
    struct operand_sample sample[OBSERVED_SAMPLES];
    int samples;
};

struct observed {
    const struct branches *branches;
    const struct space *space;
    struct observed_comparison *comparison; /* parallel to branches->comparison */
    struct observed_run *run;
    int runs, capacity;
    const char *name[OBSERVED_NAMES]; /* axes that are numbers, then derived sizes */
    int names, axes;
    int axis[OBSERVED_NAMES]; /* index of the axis, or of the derived size */
};

bool observed_open(struct observed *observed, const struct branches *branches, const struct space *space);
void observed_close(struct observed *observed);

/* Records the last call. Returns the number of relations that no comparison without a branch had before;
 * -1: memory is out. */
int observed_add(struct observed *observed, const struct tracing *tracing, const struct config *config,
                 const struct clue *clue);

/* Lists expressions that equal an operand in all sampled calls: a number if it never changed, else sizes
 * of the contract, their products, remainders and quotients. `most`: take the greatest operand of each
 * call, else the least. Returns their number. */
int observed_follow(struct observed *observed, const struct observed_comparison *comparison, int side,
                    bool most, char text[FOLLOWED_MOST][CLUE_TEXT_SIZE], bool *is_number);

#endif
