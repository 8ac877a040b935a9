/* Exports a drawn set as files of a task of AgentKernelArena: `unseen export --format arena`. */
#ifndef UNSEEN_EXPORT_ARENA_H
#define UNSEEN_EXPORT_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "export.h"

/* Writes the new folder `folder`: the runner, the seen set as its cases, and held_out_shapes.yaml, which
 * replaces these by the unseen set. `problem` is the problem's word on a command line. Returns 0; or -1,
 * `text` says why, no file remains, and *is_usage tells whether the user's arguments are wrong. */
int export_arena(const struct export_set *set, const char *problem, const char *folder, bool *is_usage,
                 char *text, size_t size);

#endif
