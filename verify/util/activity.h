/* Progress of a long wait, shown to a user who watches: an interpreter that imports a task, or a process that
 * computes expected values. */
#ifndef UNSEEN_ACTIVITY_H
#define UNSEEN_ACTIVITY_H

/* Sets the function that gets a text about once per second during a wait; NULL: nobody watches. It is called
 * under a lock, by the waiting thread. `data` is passed on. */
void activity_watch(void (*show)(void *data, const char *text), void *data);

/* Sets the progress of the whole run, printed before the text of the wait. */
__attribute__((format(printf, 1, 2))) void activity_stands(const char *format, ...);

/* Call it repeatedly during a wait for `what` that began at `begun` (clock_seconds). Shows "WHAT, 12 s" when
 * due. */
void activity_tick(const char *what, double begun);

#endif
