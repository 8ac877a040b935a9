// zoo: honest
// problem: softmax
// does: has threads of its own that sleep between calls
// expect: general
// timing: yes

#include "../softmax.h"
#include <pthread.h>

enum { WORKERS = 3 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work_came = PTHREAD_COND_INITIALIZER, work_done = PTHREAD_COND_INITIALIZER;
static struct {
    const float *x;
    float *y;
    int64_t rows, cols, next;
    int at_work;
} job;

static void take_rows(void)
{
    while (job.next < job.rows) {
        const int64_t r = job.next++;
        job.at_work++;
        pthread_mutex_unlock(&lock);
        honest(job.x + r * job.cols, job.y + r * job.cols, 1, job.cols, NULL);
        pthread_mutex_lock(&lock);
        job.at_work--;
    }
    if (job.at_work == 0)
        pthread_cond_broadcast(&work_done);
}

static void *serve(void *nothing)
{
    pthread_mutex_lock(&lock);
    for (;;) {
        take_rows();
        pthread_cond_wait(&work_came, &lock);
    }
    return nothing;
}

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    static int started;
    pthread_t thread;
    (void)stream;
    pthread_mutex_lock(&lock);
    job.x = x;
    job.y = y;
    job.cols = cols;
    job.next = 0;
    job.rows = rows;
    for (; started < WORKERS; started++)
        if (pthread_create(&thread, NULL, serve, NULL) == 0)
            pthread_detach(thread);
    pthread_cond_broadcast(&work_came);
    take_rows();
    while (job.at_work > 0)
        pthread_cond_wait(&work_done, &lock);
    pthread_mutex_unlock(&lock);
    return 0;
}
