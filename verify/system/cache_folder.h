/* Where files lie that make the next run quicker, and that may be lost. */
#ifndef UNSEEN_CACHE_FOLDER_H
#define UNSEEN_CACHE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

/* $XDG_CACHE_HOME/unseen, or ~/.cache/unseen, which is made. False: there is none, and why. */
bool cache_folder(char *directory, size_t size, char *why, size_t why_size);

#endif
