/* The text of the candidate's files, for the report. The names of files come from the candidate (#line),
 * so only files in its folder are read. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "branches_internal.h"

enum { MOST_BYTES = 8 << 20 };

static bool lies_in(const char *path, const char *folder)
{
    const size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && path[length] == '/';
}

static bool is_own(const char *real, const char *candidate)
{
    char folder[PATH_MAX];
    if (!realpath(candidate, folder))
        return false;
    char *const slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    return lies_in(real, folder);
}

static void split(struct source_text *to)
{
    int lines = 1;
    for (const char *c = to->text; *c; c++)
        lines += *c == '\n';
    to->line = malloc((size_t)lines * sizeof *to->line);
    char *next = to->text;
    while (to->line && next && to->lines < lines) {
        to->line[to->lines++] = next;
        next = strchr(next, '\n');
        if (next)
            *next++ = '\0';
    }
}

bool source_text_open(struct source_text *to, const char *path, const char *candidate)
{
    char real[PATH_MAX];
    struct stat status;
    *to = (struct source_text){.lines = 0};
    if (!realpath(path, real) || !is_own(real, candidate))
        return false;
    snprintf(to->name, sizeof to->name, "%.*s", BRANCH_FILE_SIZE - 1, strrchr(real, '/') + 1);
    FILE *const file = fopen(real, "re");
    if (file && fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode) && status.st_size <= MOST_BYTES)
        to->text = malloc((size_t)status.st_size + 1);
    if (to->text) {
        to->text[fread(to->text, 1, (size_t)status.st_size, file)] = '\0';
        split(to);
    }
    if (file)
        fclose(file);
    return true;
}

void source_text_close(struct source_text *text)
{
    free(text->text);
    free(text->line);
    *text = (struct source_text){.lines = 0};
}

void source_line(const struct source_text *text, int line, char *to, size_t size)
{
    const char *from = line > 0 && line <= text->lines ? text->line[line - 1] : "";
    size_t used = 0;
    from += strspn(from, " \t");
    for (; *from && *from != '\r' && used + 1 < size; from++)
        to[used++] = (char)(*from == '\t' ? ' ' : *from < ' ' || *from > '~' ? '?' : *from);
    while (used > 0 && to[used - 1] == ' ')
        used--;
    to[used] = '\0';
}
