/* Destination and style of a command's messages for people. */
#ifndef UNSEEN_CONSOLE_H
#define UNSEEN_CONSOLE_H

#include <stdio.h>

#include "options.h"

struct console {
    FILE *out;      /* standard output, or standard error if a document goes to standard output */
    bool colour;    /* by --color, NO_COLOR and TERM */
    bool progress;  /* a progress line is possible: a capable terminal */
    char token[40]; /* --github: token that ends the quiet section; else empty */
};

/* Also sets the width at which texts are wrapped. */
void console_open(struct console *screen, const struct options *options);
void console_open_on(struct console *screen, const struct options *options, FILE *out); /* on that stream */

/* Between console_watch and console_unwatch, a line on standard error shows the reason for a long wait. It
 * needs a capable terminal, and is disabled by console_silence(true), as for --quiet. */
void console_silence(bool silent);
void console_watch(void);
void console_unwatch(void);
void console_watch_on(const struct console *screen); /* the same on a screen, which clears the line itself */

/* Ends all output; with --github prints annotations. */
void console_close(struct console *screen);

#endif
