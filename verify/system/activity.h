/* A long wait, said where somebody watches: an interpreter that imports a task, a process that computes its right answers. */
#ifndef UNSEEN_ACTIVITY_H
#define UNSEEN_ACTIVITY_H

/* From now on `show` gets a text about once a second while something waits; NULL: nobody watches. It is called under a lock, from the
 * thread that waits. `data` is passed on. */
void activity_watch(void (*show)(void *data, const char *text), void *data);

/* How far the whole is, which stands before what is waited for. */
__attribute__((format(printf, 1, 2))) void activity_stands(const char *format, ...);

/* To be called again and again by what waits, since `begun` (clock_seconds), for `what`: shows "WHAT, 12 s" where that is due. */
void activity_tick(const char *what, double begun);

#endif
