/* The lexer's state, and what its two files share. */
#ifndef UNSEEN_SOURCE_INTERNAL_H
#define UNSEEN_SOURCE_INTERNAL_H

#include <string.h>

#include "source_tokens.h"

struct lexer {
    struct source *source;
    const char *p, *end;
    const char *main_file;
    int line, file;
    bool hidden;     /* the text of a system header */
    bool line_start; /* nothing but spaces precedes on the line */
    bool outdented;
    const char *line_begin;
    int run; /* constants and commas in a row */
};

static inline bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline bool lexer_sees(const struct lexer *lexer, const char *text)
{
    const size_t length = strlen(text);
    return (size_t)(lexer->end - lexer->p) >= length && memcmp(lexer->p, text, length) == 0;
}

/* source_tokens.c */
void lexer_emit(struct lexer *lexer, struct token token);
void lexer_emit_sign(struct lexer *lexer, const char *text, size_t length, int sign);
void lexer_read(struct lexer *lexer, const char *stop);

/* source_lines.c */
void lexer_new_line(struct lexer *lexer); /* after a '\n' */
void lexer_skip_to(struct lexer *lexer, const char *stop);
void lexer_skip_comment(struct lexer *lexer);
void lexer_read_directive(struct lexer *lexer);
void lexer_skip_hidden_line(struct lexer *lexer);

#endif
