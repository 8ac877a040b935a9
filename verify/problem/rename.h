/* One problem's C source as another's. */
#ifndef UNSEEN_RENAME_H
#define UNSEEN_RENAME_H

#include <stdio.h>

/* Called for every quoted #include with the file that it names: the name to write in its place, valid until the next
 * call; NULL: as it is. */
typedef const char *rename_include(void *data, const char *file);

/* Copies C source `text` to `out`, in which the problem `from` is called `to`: the identifier problem_FROM, a function FROM
 * (an identifier before a parenthesis, no member), the string after `.name =`, and `problem: FROM` in a comment. All else that
 * is called so may mean something else. */
void rename_source(FILE *out, const char *text, const char *from, const char *to, rename_include *include,
                   void *data);

/* The same for a .space or .seen file, whose comments may begin with the name or speak of FROM.seen. */
void rename_shape(FILE *out, const char *text, const char *from, const char *to);

#endif
