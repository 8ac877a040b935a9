/* Clues of Python files (gen/draw/clue.h): unseen_torch.clues reads them in an interpreter of its own, by
 * their syntax trees. No code of the files runs. */
#ifndef UNSEEN_CLUE_SERVICE_H
#define UNSEEN_CLUE_SERVICE_H

#include <stddef.h>

#include "gen/draw/clue.h"

/* A text in a file that looks like source in a language like C. It begins at this line of the file; it has
 * no NUL at its end, and it may have some inside. */
typedef void embedded_text(void *data, const char *text, size_t size, const char *file, int line);

/* Adds the clues of Python files; those of a file that cannot be read are none. A clue's file is its base
 * name, with "?" for bytes other than printable ASCII. `embedded` (NULL: nothing) gets texts of other
 * languages, with `data`. `interpreter` NULL: python3 on PATH. Returns 0, or -1 without an interpreter, room
 * or time, as `why` says; never because of the files' content. If that ends the interpreter, the list is
 * truncated. */
int python_clues(struct clue_list *list, const char *const *file, int files, const char *interpreter,
                 embedded_text *embedded, void *data, char *why, size_t why_size);

#endif
