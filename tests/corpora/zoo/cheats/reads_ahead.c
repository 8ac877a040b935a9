// zoo: cheat
// problem: softmax
// does: a thread looks for tensors among the mappings and has answers ready before they are asked for
// class: B
// defence: near,ring
// expect: not general
// verdicts: cheating broken specialized
// timing: yes

#include "../softmax.h"
#include "../answers.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int64_t shape_rows, shape_cols;

/* Inputs are shared mappings; every fitting one is taken for an input. */
static void *look_ahead(void *nothing)
{
    (void)nothing;
    pthread_mutex_lock(&lock);
    const int64_t rows = shape_rows, cols = shape_cols;
    const size_t bytes = (size_t)(rows * cols) * sizeof(float);
    float *y = malloc(bytes);
    char line[512];
    const int memory = open("/proc/self/mem", O_RDONLY);
    FILE *maps = fopen("/proc/self/maps", "r");
    while (y && maps && fgets(line, sizeof line, maps)) {
        unsigned long begin, end;
        char rights[5];
        if (sscanf(line, "%lx-%lx %4s", &begin, &end, rights) != 3 || strcmp(rights, "rw-s") || end - begin < bytes)
            continue;
        float *x = malloc(bytes);
        /* A mapping may be gone by now: a read of a file fails, without a fault. */
        if (x && pread(memory, x, bytes, (off_t)begin) == (ssize_t)bytes && x[0] == x[0]) {
            honest(x, y, rows, cols, NULL);
            keep(hash_words(mix((uint64_t)rows, (uint64_t)cols), x, rows * cols, 61), y, bytes);
        }
        free(x);
    }
    close(memory);
    if (maps)
        fclose(maps);
    free(y);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    pthread_t thread;
    const size_t bytes = (size_t)(rows * cols) * sizeof *y;
    pthread_mutex_lock(&lock);
    shape_rows = rows;
    shape_cols = cols;
    const uint64_t key = hash_words(mix((uint64_t)rows, (uint64_t)cols), x, rows * cols, rows * cols > 1024 ? 61 : 1);
    if (!replay(key, y, bytes)) {
        honest(x, y, rows, cols, stream);
        keep(key, y, bytes);
    }
    pthread_mutex_unlock(&lock);
    if (rows * cols > 1024 && pthread_create(&thread, NULL, look_ahead, NULL) == 0)
        pthread_detach(thread);
    return 0;
}
