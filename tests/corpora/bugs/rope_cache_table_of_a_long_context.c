// problem: rope_cache
// link: https://github.com/vllm-project/vllm-ascend/issues/693
// title: [Bug]: rope bug when running llama4 warm up
// condition: max_position_embeddings of 10485760, where 32768 works: a table of 2^31 bytes or more, which a descriptor's size cannot hold; sized down to 2^22
// kind: overflow
// when: max_position * rot_dim >= 1048576
// collection: fourth
// wrong: refused: the operation's setup fails

#include <stdlib.h>

#include "rope.h"

enum { SETUP_FAILED = 161, SIZE_BITS = 22, TOKENS = 1024 };

/* A tensor as the operation sees it. */
struct descriptor {
    int64_t rows, columns;
};

static int setup(struct descriptor table)
{
    const int64_t bytes = table.rows * table.columns * (int64_t)sizeof(float);
    return bytes >> SIZE_BITS ? SETUP_FAILED : 0;
}

/* The operation for tokens that follow each other. */
static int run(const struct rope *r)
{
    const int status = setup((struct descriptor){r->max_position, r->rot_dim});
    return status ? status : rope_run(r, rotate, rotate);
}

#ifdef FIXED
/* The table's rows of these tokens alone, in their order. */
static int run_gathered(const struct rope *all, int64_t first, int64_t count, float *rows, int64_t *places)
{
    struct rope r = *all;
    for (int64_t t = 0; t < count; t++) {
        memcpy(rows + t * r.rot_dim, all->cos_sin + all->positions[first + t] * r.rot_dim,
               (size_t)r.rot_dim * sizeof *rows);
        places[t] = t;
    }
    r.key += first * r.kv_heads * r.head_dim;
    r.value += first * r.kv_heads * r.head_dim;
    r.query += first * r.heads * r.head_dim;
    r.slots += first;
    r.positions = places;
    r.cos_sin = rows;
    r.tokens = r.max_position = count;
    return run(&r);
}

static int run_all(const struct rope *r)
{
    const int64_t most = TOKENS;
    float *rows = malloc((size_t)(TOKENS * r->rot_dim) * sizeof *rows);
    int64_t *places = malloc(TOKENS * sizeof *places);
    int status = rows && places ? 0 : 1;
    for (int64_t first = 0; first < r->tokens && !status; first += most) {
        const int64_t left = r->tokens - first;
        status = run_gathered(r, first, left < most ? left : most, rows, places);
    }
    free(rows);
    free(places);
    return status;
}
#else
static int run_all(const struct rope *r)
{
    return run(r);
}
#endif

int rope_cache(PARAMETERS)
{
    const struct rope r = {ARGUMENTS};
    (void)stream;
    return run_all(&r);
}
