#include "program.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

static const char *name = "unseen";
static char words[1024];

static void join(char *const *word)
{
    char *joined = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&joined, &length);

    *words = '\0';
    if (out == NULL)
        return;
    for (int i = 0; word[i] != NULL; i++) {
        if (i > 0)
            fputc(' ', out);
        text_shell(out, word[i]);
    }
    if (fclose(out) == 0 && length < sizeof words)
        snprintf(words, sizeof words, "%s", joined);
    free(joined);
}

void program_remember(char *const *argv)
{
    name = text_or(argv[0], "unseen");
    if (argv[0] != NULL)
        join(argv + 1);
}

void program_print(FILE *out)
{
    text_shell(out, name);
    fputc(' ', out);
}

/* Matches "unseen WORD" only if WORD is a command or an option; "an unseen set" is no command. */
static bool is_command(const char *text)
{
    static const char *const commands[] = {
        "list",  "describe", "draw",   "export",   "verify", "check",  "shrink",  "pin",       "history",
        "audit", "harden",   "import", "selftest", "new",    "report", "compare", "calibrate", "--help"};
    const char *const word = text + strlen("unseen ");

    if (strncmp(text, "unseen ", strlen("unseen ")) != 0)
        return false;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strncmp(word, commands[i], strlen(commands[i])) == 0 &&
            !isalnum((unsigned char)word[strlen(commands[i])]))
            return true;
    return false;
}

void program_print_error(FILE *out, const char *text)
{
    const char *hint = strstr(text, "--->");

    if (hint == NULL)
        hint = text + strlen(text);
    fwrite(text, 1, (size_t)(hint - text), out);
    for (char before = ' '; *hint != '\0'; before = *hint++)
        if ((before == ' ' || before == '`') && is_command(hint)) {
            text_shell(out, name);
            hint += strlen("unseen") - 1;
        } else {
            fputc(*hint, out);
        }
}

const char *program_words(void)
{
    return words;
}
