/* Where a command's words for people go, and how. */
#ifndef UNSEEN_SCREEN_H
#define UNSEEN_SCREEN_H

#include <stdio.h>

#include "options.h"

struct screen {
    FILE *out;      /* standard output; standard error where a document goes to standard output */
    bool colour;    /* by --color, NO_COLOR and TERM */
    bool progress;  /* a line that rewrites itself: on a terminal that can */
    char token[40]; /* --github: what ends the quiet; else empty */
};

/* Sets the width that texts are wrapped at, too. */
void screen_open(struct screen *screen, const struct options *options);
/* From screen_watch to screen_unwatch one line on standard error says what a long wait is for: on a terminal that can, and not after
 * screen_silence(true), as --quiet asks. */
void screen_silence(bool silent);
void screen_watch(void);
void screen_unwatch(void);
void screen_watch_on(
    const struct screen *screen); /* likewise where the screen is, which takes the line away itself */

/* After all else: annotations, with --github. */
void screen_close(struct screen *screen);

#endif
