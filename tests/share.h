/* Which part of what is too much for every run: BATTERY_SHARE=N makes one in N, and the commit says which, the same for
 * everybody who tests it and another for the next; or BATTERY_ROTATION. */
#ifndef UNSEEN_TESTS_SHARE_H
#define UNSEEN_TESTS_SHARE_H

int share_size(void);
int share_rotation(void);        /* 0 to share_size() - 1 */
int share_rotation_of(int size); /* the same of another size */

/* The environment's number of that name, where it is at least `least`. */
int share_number(const char *name, int least, int otherwise);

#endif
