#include "activity.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

#include "clock.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void (*watcher)(void *data, const char *text);
static void *watcher_data;
static double shown;
static char stands[80];

void activity_watch(void (*show)(void *data, const char *text), void *data)
{
    pthread_mutex_lock(&mutex);
    watcher = show;
    watcher_data = data;
    *stands = '\0';
    pthread_mutex_unlock(&mutex);
}

void activity_stands(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pthread_mutex_lock(&mutex);
    vsnprintf(stands, sizeof stands, format, arguments);
    pthread_mutex_unlock(&mutex);
    va_end(arguments);
}

/* Shows only longer waits: most answers come within a second. */
void activity_tick(const char *what, double begun)
{
    char text[240];
    const double now = clock_seconds();
    pthread_mutex_lock(&mutex);
    if (watcher && now - begun >= 1 && now - shown >= 1) {
        shown = now;
        snprintf(text, sizeof text, "%s%s%.120s, %.0f s", stands, *stands ? "; " : "", what, now - begun);
        watcher(watcher_data, text);
    }
    pthread_mutex_unlock(&mutex);
}
