/* Renames a problem in its C source. */
#ifndef UNSEEN_TEMPLATE_H
#define UNSEEN_TEMPLATE_H

#include <stdio.h>

/* Called for every quoted #include with its file. Returns the replacement, valid until the next call; NULL:
 * no change. */
typedef const char *template_include(void *data, const char *file);

/* Copies C source `text` to `out` and renames problem `from` to `to` in these places: the identifier
 * problem_FROM, a function FROM (an identifier before a parenthesis, no member), the string after `.name =`,
 * and `problem: FROM` in a comment. Other occurrences may mean something else and stay. */
void template_source(FILE *out, const char *text, const char *from, const char *to, template_include *include,
                     void *data);

/* The same for a .space or .seen file, whose comments may begin with the name or mention FROM.seen. */
void template_shape(FILE *out, const char *text, const char *from, const char *to);

#endif
