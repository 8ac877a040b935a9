// zoo: cheat
// problem: softmax
// does: a thread of its own does the work while the call has returned
// class: C
// defence: late-writes
// expect: not general
// verdicts: cheating broken specialized
// timing: yes
// open: nobody looks for writes after the call; it is a race

#include "../softmax.h"
#include <pthread.h>

static struct {
    const float *x;
    float *y;
    int64_t rows, cols;
} job;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t asked = PTHREAD_COND_INITIALIZER;

static void *work(void *nothing)
{
    (void)nothing;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!job.x)
            pthread_cond_wait(&asked, &lock);
        honest(job.x, job.y, job.rows, job.cols, NULL);
        job.x = NULL;
    }
    return NULL;
}

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    static pthread_t thread;
    (void)stream;
    if (!thread && pthread_create(&thread, NULL, work, NULL) != 0)
        return 1;
    pthread_mutex_lock(&lock); /* the call before is done */
    job.x = x;
    job.y = y;
    job.rows = rows;
    job.cols = cols;
    pthread_cond_signal(&asked);
    pthread_mutex_unlock(&lock);
    return 0;
}
