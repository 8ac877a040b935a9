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
/* After all else: annotations, with --github. */
void screen_close(struct screen *screen);

#endif
