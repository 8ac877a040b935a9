/* Creates a problem's folder from an existing problem: its files with the name replaced. */
#ifndef UNSEEN_SCAFFOLD_H
#define UNSEEN_SCAFFOLD_H

#include "folder.h"

/* Writes DIRECTORY/NAME, which must not exist, from `like`: problem.c, reference*.h, NAME.space, NAME.seen
 * (.host.seen), the baselines with their includes, README.md. Returns FOLDER_OK. On errors nothing is left
 * behind, and `text` says what was found, what was expected and what to do. */
enum folder_status scaffold_write(const struct problem *like, const char *name, const char *directory,
                                  char *text, size_t size);

#endif
