// problem: rope_cache
// link: https://github.com/lucidrains/rotary-embedding-torch/issues/11
// title: Bug in cache
// condition: angles are kept under the number of tokens alone, and a later call of as many has other positions
// kind: second call
// when: max_position > 1 and positions!=last
// side: necessary
// collection: second
// wrong: wrong values from the second call on: the first one's positions

#include <stdlib.h>

#include "rope.h"

/* Positions of a call, by its number of tokens. */
struct entry {
    int64_t tokens, *position;
    struct entry *next;
};

static struct entry *cache;

static bool is_hit(const struct entry *e, int64_t tokens, const int64_t *positions, int64_t max_position)
{
    bool same = e->tokens == tokens;
    for (int64_t t = 0; same && t < tokens; t++) {
#ifdef FIXED
        same = e->position[t] == positions[t];
#else
        same = e->position[t] < max_position; /* a table that grew is made anew */
#endif
    }
    (void)positions;
    (void)max_position;
    return same;
}

static const struct entry *look_up(int64_t tokens, const int64_t *positions, int64_t max_position)
{
    for (struct entry *e = cache; e; e = e->next)
        if (is_hit(e, tokens, positions, max_position))
            return e;
    struct entry *added = malloc(sizeof *added);
    if (!added)
        return NULL;
    *added = (struct entry){tokens, malloc((size_t)tokens * sizeof *added->position), cache};
    if (!added->position) {
        free(added);
        return NULL;
    }
    memcpy(added->position, positions, (size_t)tokens * sizeof *positions);
    cache = added;
    return added;
}

int rope_cache(PARAMETERS)
{
    struct rope r = {ARGUMENTS};
    const struct entry *e = look_up(tokens, positions, max_position);
    (void)stream;
    if (!e)
        return 1;
    r.positions = e->position;
    return rope_run(&r, rotate, rotate);
}
