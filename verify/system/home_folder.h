/* Where files of the user lie: what is kept from run to run. */
#ifndef UNSEEN_HOME_FOLDER_H
#define UNSEEN_HOME_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

/* The user's own folder of the tool: "unseen" below what the environment's `variable` names (XDG_DATA_HOME), or below `otherwise`
 * (".local/share") of the home. A relative value is to be ignored, says the specification of these variables. False: neither is
 * there, or it is too long. */
bool home_folder(char *directory, size_t size, const char *variable, const char *otherwise);

/* It and all above it, readable by its user alone. False with errno. */
bool home_make(char *directory);

/* $XDG_CACHE_HOME/unseen, or ~/.cache/unseen, which is made. False: there is none, and why. */
bool cache_folder(char *directory, size_t size, char *why, size_t why_size);

#endif
