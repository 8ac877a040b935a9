/* A new problem's folder, after an existing problem: its files with the name replaced. */
#ifndef UNSEEN_LIKE_H
#define UNSEEN_LIKE_H

#include "folder.h"

/* Writes DIRECTORY/NAME, which must not exist, from `like`: problem.c, reference*.h, NAME.space, NAME.seen (.host.seen), the
 * baselines with what they include, README.md. Returns FOLDER_OK; otherwise nothing is left behind and `text` says what was
 * found, what was expected and what to do. */
enum folder_status like_write(const struct problem *like, const char *name, const char *directory, char *text,
                              size_t size);

#endif
