/* Problems in folders of their own: shared by the parts of the `own` suite. */
#ifndef UNSEEN_TESTS_OWN_H
#define UNSEEN_TESTS_OWN_H

#include "cli.h"

/* Fixture: as cli_setup, with a cache of its own (./cache) and ./softmax, copied out of the tree. */
void own_setup(void);
void own_teardown(void);

void own_copy(const char *problem); /* out of the tree into ./PROBLEM, shapes included */
void own_sh(const char *format, ...) __attribute__((format(printf, 1, 2))); /* must succeed */

/* Keeps the last report as FILE, without the times (the paragraph of the ceilings among it), and with the
 * name in the place of the folder's word. */
void own_keep_report(const char *file);

/* A `cc` before the real one on PATH: notes its arguments in cc.log, then does `before` (shell). */
void own_wrap_cc(const char *before);
int own_compiled(void); /* the number of files compiled since the last call */

/* Writes the files that doc/problem-tutorial.md shows and runs its commands: those for the host, or those for
 * a GPU. */
void own_follow_tutorial(bool gpu);

TCase *own_folder_case(void);
TCase *own_error_case(void);
TCase *own_cache_case(void);
TCase *own_again_case(void);
TCase *own_cuda_case(void);
TCase *own_tutorial_case(void);

#endif
