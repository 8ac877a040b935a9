/* Location of the user's files, which persist between runs. */
#ifndef UNSEEN_HOME_FOLDER_H
#define UNSEEN_HOME_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

/* The tool's folder of the user: "unseen" below the environment's `variable` (XDG_DATA_HOME), or below
 * `otherwise` (".local/share") in the home folder. The specification of these variables says to ignore a
 * relative value. False: neither exists, or the path is too long. */
bool home_folder(char *directory, size_t size, const char *variable, const char *otherwise);

/* Creates it and its parents, readable by the user only. False with errno. */
bool home_make(char *directory);

/* Creates $XDG_CACHE_HOME/unseen, or ~/.cache/unseen. False, and why, if there is none. */
bool cache_folder(char *directory, size_t size, char *why, size_t why_size);

#endif
