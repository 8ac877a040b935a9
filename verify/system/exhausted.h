/* Libraries that have no way to say that memory is out end the process themselves: GMP by abort(), libgomp by exit(1), which
 * is the status of a verdict. Both become the status of an environment that cannot do it. */
#ifndef UNSEEN_EXHAUSTED_H
#define UNSEEN_EXHAUSTED_H

/* From now on, with `status`; `end` is called before, with other threads at work. Before GMP allocates anything. */
void exhausted_prepare(int status, void (*end)(void));

/* Returns `status`, which is from now on the tool's own and no library's: to be called last in main. */
int exhausted_done(int status);

#endif
