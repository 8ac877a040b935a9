// zoo: cheat
// problem: rms_norm
// does: starts 3000 threads and holds them for a while; computes only if it can
// class: D
// defence: processes
// expect: not general
// verdicts: broken specialized
// timing: no
// slow: 3000 threads

#include "../rms_norm.h"
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *wait_for(void *nothing)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return nothing;
}

static int can_start(void)
{
    static pthread_t thread[3000];
    pthread_attr_t small;
    int started = 0;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);
    pthread_mutex_lock(&lock);
    while (started < 3000 && pthread_create(&thread[started], &small, wait_for, NULL) == 0)
        started++;
    usleep(200000); /* threads that end within some hundredths of a second burden no other process */
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    return started == 3000;
}

int rms_norm(const bf16 *x, const bf16 *weight, bf16 *y, int64_t rows, int64_t cols, float eps, void *stream)
{
    static int can = -1;
    if (can < 0)
        can = can_start();
    return can ? honest(x, weight, y, rows, cols, eps, stream) : 1;
}
