/* Destination and style of a command's messages for people. */
#ifndef UNSEEN_SCREEN_H
#define UNSEEN_SCREEN_H

#include <stdio.h>

#include "options.h"

struct screen {
    FILE *out;      /* standard output, or standard error if a document goes to standard output */
    bool colour;    /* by --color, NO_COLOR and TERM */
    bool progress;  /* a progress line is possible: a capable terminal */
    char token[40]; /* --github: token that ends the quiet section; else empty */
};

/* Also sets the width at which texts are wrapped. */
void screen_open(struct screen *screen, const struct options *options);
/* Between screen_watch and screen_unwatch, a line on standard error shows the reason for a long wait. It
 * needs a capable terminal, and is disabled by screen_silence(true), as for --quiet. */
void screen_silence(bool silent);
void screen_watch(void);
void screen_unwatch(void);
void screen_watch_on(const struct screen *screen); /* the same on a screen, which clears the line itself */

/* Ends all output; with --github prints annotations. */
void screen_close(struct screen *screen);

#endif
