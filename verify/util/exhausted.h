/* Some libraries end the process when out of memory: GMP by abort(), libgomp by exit(1), which is the status
 * of a verdict. These hooks turn both into the exit status of an environment error. */
#ifndef UNSEEN_EXHAUSTED_H
#define UNSEEN_EXHAUSTED_H

/* Installs the hooks with `status`; `end` is called first, while other threads run. Call it before GMP
 * allocates. */
void exhausted_prepare(int status, void (*end)(void));

/* Returns `status`, and declares that a later exit is the tool's own. Call it last in main. */
int exhausted_done(int status);

#endif
