/* The program's name in printed commands, so that a pasted command runs. */
#ifndef UNSEEN_PROGRAM_H
#define UNSEEN_PROGRAM_H

#include <stdio.h>

/* Remembers argv[0] as the shell gave it and the words after it. The name is "unseen" if PATH found it (or
 * argv[0] is NULL or empty), else the path that was typed. Call it before options are parsed, since parsing
 * permutes argv. argv[0] must stay valid. */
void program_remember(char *const *argv);
/* Prints the name as one shell word, then a blank. */
void program_print(FILE *out);
/* Prints an error. In its hint (after "--->") commands get the program's name: "unseen list" becomes
 * "build/unseen list". */
void program_print_error(FILE *out, const char *text);
/* The words after the program's name, quoted for the shell; empty if they exceed 1023 characters. */
const char *program_words(void);

#endif
