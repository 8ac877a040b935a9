/* Escaping of untrusted text (paths, a candidate's messages), so that it cannot form markup. */
#ifndef UNSEEN_MARKUP_H
#define UNSEEN_MARKUP_H

#include <stdio.h>

/* For HTML and XML, between tags and in quoted attributes. U+FFFD replaces invalid UTF-8, characters that XML
 * 1.0 forbids, and bidirectional overrides. Line breaks and tabs become blanks. */
void markup_text(FILE *out, const char *text);

/* For GitHub's Markdown, as readable as possible: escapes marks by backslashes. Text that GitHub would turn
 * into a link, a mention or a reference is written as code. */
void markup_markdown(FILE *out, const char *text);
/* As Markdown code, for paths and configurations. A "|" becomes a broken bar. */
void markup_code(FILE *out, const char *text);

/* Data and properties of GitHub workflow commands: "%", line breaks and, in a property, ":" and "," as
 * %XX. */
void markup_github(FILE *out, const char *text, int property);

#endif
