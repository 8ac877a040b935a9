// problem: softmax
// link: https://github.com/gabrieldemarmiesse/torch-mojo-backend/pull/319
// title: log_softmax fwd: fix NaN on rows narrower than one block pass and on -inf inputs
// condition: every fp32 row below 1024 columns (threads times vector) came back all NaN
// kind: small size
// when: cols < 1024
// side: necessary
// wrong: NaN: threads that see no vector merge exp(-inf - -inf) into the row's sum

#include <math.h>
#include <stdint.h>

enum { THREADS = 256, VECTOR = 4 };

/* A thread's running maximum and the sum of exponentials below it. */
struct running {
    float max;
    double sum;
    int seen;
};

static void see(struct running *r, float x)
{
    const float max = x > r->max || x != x ? x : r->max;
    r->seen = 1;
    if (x != -INFINITY)
        r->sum = (r->max == -INFINITY ? 0 : r->sum * expf(r->max - max)) + expf(x - max);
    r->max = max;
}

static void row_softmax(const float *x, float *y, int64_t cols)
{
    struct running thread[THREADS], all = {-INFINITY, 0, 0};
    const int64_t whole = cols / VECTOR * VECTOR;
    for (int t = 0; t < THREADS; t++) {
        thread[t] = (struct running){-INFINITY, 0, 0};
        for (int64_t at = t * VECTOR; at < whole; at += THREADS * VECTOR)
            for (int64_t c = at; c < at + VECTOR; c++)
                see(&thread[t], x[c]);
    }
    for (int64_t c = whole; c < cols; c++)
        see(&thread[0], x[c]);
    for (int t = 0; t < THREADS; t++)
        all.max = thread[t].max > all.max || thread[t].max != thread[t].max ? thread[t].max : all.max;
    for (int t = 0; t < THREADS;
         t++) { /* the fault: the guard of -inf - -inf is for threads that saw something */
        const float factor = thread[t].seen && thread[t].max == -INFINITY ? 0 : expf(thread[t].max - all.max);
        all.sum += thread[t].sum * (thread[t].seen ? factor : expf(thread[t].max - thread[t].max));
    }
    for (int64_t c = 0; c < cols; c++)
        y[c] = (float)(expf(x[c] - all.max) / all.sum);
}

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    (void)stream;
#pragma omp parallel for schedule(static) if (rows > 1 && rows * cols > 8192)
    for (int64_t r = 0; r < rows; r++)
        row_softmax(x + r * cols, y + r * cols, cols);
    return 0;
}
