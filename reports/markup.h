/* Text inside of markup: whatever a path or a candidate's words hold, they stay words. */
#ifndef UNSEEN_MARKUP_H
#define UNSEEN_MARKUP_H

#include <stdio.h>

/* For HTML and XML, between tags and in quoted attributes. What is not UTF-8, what XML 1.0 has no place for, and what turns the
 * direction of writing reads U+FFFD; line breaks and tabs read a blank. */
void markup_text(FILE *out, const char *text);

/* For GitHub's Markdown, as readable as it stands: marks behind a backslash, and as code where it has what GitHub makes a link,
 * a mention or a reference of. No character of it forms markup. */
void markup_markdown(FILE *out, const char *text);
/* As code: paths, configurations. A "|" reads as a broken bar. */
void markup_code(FILE *out, const char *text);

/* A workflow command's data and property of GitHub: "%", line breaks and, in a property, ":" and "," as %XX. */
void markup_github(FILE *out, const char *text, int property);

#endif
