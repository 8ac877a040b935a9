/* The name of this program in the commands that reports print, so that a pasted line runs. */
#ifndef UNSEEN_PROGRAM_H
#define UNSEEN_PROGRAM_H

#include <stdio.h>

/* Keeps argv[0] as the shell gave it ("unseen" where PATH found it, else the path that was typed; NULL or empty: "unseen"),
 * and the words behind it. Call it before options are parsed, which moves
 * words. argv[0] must stay where it is. */
void program_remember(char *const *argv);
/* The name as one shell word, then a blank. */
void program_print(FILE *out);
/* An error's text, in whose hints (behind "--->") commands begin with the name: "unseen list" reads "build/unseen list". */
void program_print_error(FILE *out, const char *text);
/* The words behind the name, as the shell reads them; empty where they are longer than 1023 characters. */
const char *program_words(void);

#endif
