/* Several processes at once: begun by this thread, with which they die, and waited for by a thread each. */
#include <pthread.h>
#include <stddef.h>

#include "child_internal.h"
#include "sandbox.h"

struct start {
    const struct child_options *options;
    struct child *child;
    pthread_t thread;
    bool is_threaded;
};

static void *finish(void *data)
{
    struct start *const start = data;
    char text[1024];
    if (child_greet(start->child, start->options, text, sizeof text) != CHILD_OK ||
        child_load(start->child, start->options, text, sizeof text) != CHILD_OK) {
        child_stop(start->child);
        start->child = NULL;
    }
    return NULL;
}

static void begin(struct start *start)
{
    char text[1024];
    const bool inside = sandbox_use(start->options->backend);
    if (start->options->python || (inside ? !sandbox_confirmed(start->options->backend) : sandbox_required()))
        return;
    start->child = child_begin(start->options, inside, text, sizeof text);
    start->is_threaded = start->child && pthread_create(&start->thread, NULL, finish, start) == 0;
}

void child_start_several(struct child **child, const struct child_options *options, int count)
{
    struct start start[CHILD_SEVERAL] = {{.options = options}};
    const int most = count < CHILD_SEVERAL ? count : CHILD_SEVERAL;
    for (int i = 0; i < most; i++) {
        start[i].options = &options[i];
        begin(&start[i]);
    }
    for (int i = 0; i < count; i++) {
        if (i < most && start[i].is_threaded)
            pthread_join(start[i].thread, NULL);
        else if (i < most && start[i].child)
            finish(&start[i]);
        child[i] = i < most ? start[i].child : NULL;
    }
}
