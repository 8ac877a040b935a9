/* Comments and lines: what precedes tokens and separates them. */
#include <stdlib.h>

#include "source_internal.h"
#include "source_names.h"

void lexer_new_line(struct lexer *lexer)
{
    lexer->line++;
    lexer->line_start = true;
    lexer->line_begin = lexer->p;
    lexer->outdented = lexer->p < lexer->end && !is_space(*lexer->p);
}

/* Skips to `stop`, which is in the text or its end, and counts the lines. */
void lexer_skip_to(struct lexer *lexer, const char *stop)
{
    for (; lexer->p < stop; lexer->p++)
        lexer->line += *lexer->p == '\n';
}

static bool is_continued(const char *newline)
{
    return newline[-1] == '\\' || (newline[-1] == '\r' && newline[-2] == '\\');
}

/* The end of the line that begins before `p`; it goes on after a backslash. */
static const char *end_of_words(const char *p, const char *end)
{
    while (p < end && (*p != '\n' || is_continued(p)))
        p++;
    return p;
}

/* The same of a directive, which goes on in a comment, too. */
static const char *line_end(const char *p, const char *end)
{
    for (bool comment = false; p < end; p++) {
        if (*p == '\n' && !comment && !is_continued(p))
            return p;
        if (end - p < 2)
            continue;
        if (!comment && p[0] == '/' && p[1] == '/')
            return end_of_words(p, end);
        if (p[0] == '/' && p[1] == '*' && !comment)
            comment = true, p++;
        else if (p[0] == '*' && p[1] == '/' && comment)
            comment = false, p++;
    }
    return end;
}

void lexer_skip_comment(struct lexer *lexer)
{
    if (lexer->p[1] == '/') {
        lexer_skip_to(lexer, end_of_words(lexer->p + 2, lexer->end));
        return;
    }
    const char *stop = lexer->p + 2;
    while (stop < lexer->end && !(stop[0] == '*' && stop + 1 < lexer->end && stop[1] == '/'))
        stop++;
    lexer_skip_to(lexer, lexer->end - stop >= 2 ? stop + 2 : lexer->end);
}

static void skip_spaces_of_line(struct lexer *lexer)
{
    while (lexer->p < lexer->end && (*lexer->p == ' ' || *lexer->p == '\t'))
        lexer->p++;
}

static bool is_system(const char *path, size_t length)
{
    static const char *const folders[] = {"/usr/", "/opt/rocm", "/opt/cuda", "/opt/nvidia", "<"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (length >= strlen(folders[i]) && memcmp(path, folders[i], strlen(folders[i])) == 0)
            return true;
    return memmem(path, length, "/targets/x86_64-linux/include/", 30) != NULL;
}

/* A line marker: # 12 "file.h" 3 */
static void read_marker(struct lexer *lexer, const char *stop)
{
    int line = 0;
    for (; lexer->p < stop && is_digit(*lexer->p); lexer->p++)
        line = line < 100000000 ? 10 * line + (*lexer->p - '0') : line;
    const char *const quote = memchr(lexer->p, '"', (size_t)(stop - lexer->p));
    const char *close = stop - 1;
    while (quote && close > quote && *close != '"')
        close--;
    if (quote && close > quote) {
        const char *const path = quote + 1;
        const size_t length = (size_t)(close - path);
        const char *base = close;
        while (base > path && base[-1] != '/')
            base--;
        const bool own = lexer->main_file && strlen(lexer->main_file) == length &&
                         memcmp(lexer->main_file, path, length) == 0;
        bool system = !own && is_system(path, length);
        for (const char *p = close; p < stop; p++)
            system |= *p == '3';
        lexer->hidden = system;
        lexer->file = own ? -1 : source_intern(lexer->source, base, (size_t)(close - base));
    }
    lexer->p = stop;
    lexer->line = line - 1; /* the end of this line is counted */
}

static void emit_name(struct lexer *lexer, const char *text, size_t length, bool macro)
{
    const int index = source_intern(lexer->source, text, length);
    if (index >= 0)
        lexer_emit(lexer,
                   (struct token){.text = text, .length = (uint32_t)length, .code = index, .macro = macro});
}

/* An object-like macro becomes NAME = body; another one NAME(a, b) {return body;} */
static void read_define(struct lexer *lexer, const char *stop)
{
    skip_spaces_of_line(lexer);
    const char *const name = lexer->p;
    while (lexer->p < stop && (is_letter(*lexer->p) || is_digit(*lexer->p)))
        lexer->p++;
    const size_t length = (size_t)(lexer->p - name);
    const bool function = lexer->p < stop && *lexer->p == '(';
    if (!function)
        skip_spaces_of_line(lexer);
    if (length == 0 || lexer->p >= stop || *lexer->p == '\n' || *lexer->p == '/')
        return;
    lexer_emit_sign(lexer, ";", 1, ';');
    emit_name(lexer, name, length, true);
    if (function) {
        const char *const close = memchr(lexer->p, ')', (size_t)(stop - lexer->p));
        lexer_read(lexer, close ? close + 1 : stop);
        lexer_emit_sign(lexer, "{", 1, '{');
        emit_name(lexer, "return", 6, false);
    } else
        lexer_emit_sign(lexer, "=", 1, '=');
    lexer_read(lexer, stop);
    lexer_emit_sign(lexer, ";", 1, ';');
    if (function)
        lexer_emit_sign(lexer, "}", 1, '}');
}

/* Clauses such as if (rows > 64) are conditions. */
static void read_pragma(struct lexer *lexer, const char *stop)
{
    lexer_emit_sign(lexer, ";", 1, ';');
    lexer_read(lexer, stop);
    lexer_emit_sign(lexer, ";", 1, ';');
}

void lexer_read_directive(struct lexer *lexer)
{
    const char *const stop = line_end(lexer->p + 1, lexer->end);
    lexer->p++;
    lexer->line_start = false;
    skip_spaces_of_line(lexer);
    if (lexer_sees(lexer, "line "))
        lexer->p += 5;
    if (lexer->p < stop && is_digit(*lexer->p))
        read_marker(lexer, stop);
    else if (lexer_sees(lexer, "define") && !lexer->hidden && stop - lexer->p > 7) {
        lexer->p += 6;
        read_define(lexer, stop);
    } else if (lexer_sees(lexer, "pragma omp") && !lexer->hidden)
        read_pragma(lexer, stop);
    lexer_skip_to(lexer, stop);
}

/* A line of a system header ends it only if it is a marker. */
void lexer_skip_hidden_line(struct lexer *lexer)
{
    const char *const stop = memchr(lexer->p, '\n', (size_t)(lexer->end - lexer->p));
    lexer->p = stop ? stop : lexer->end;
}
