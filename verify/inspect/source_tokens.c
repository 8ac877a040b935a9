#include "source_tokens.h"

#include <stdlib.h>
#include <string.h>

#include "source_internal.h"
#include "source_names.h"

/* Long tables of constants would fill the memory, and no branch is in them. */
static bool is_in_a_table(struct lexer *lexer, const struct token *token)
{
    const bool constant = token->kind == TOKEN_NUMBER || token->kind == TOKEN_FLOAT ||
                          token->kind == TOKEN_TEXT ||
                          (token->kind == TOKEN_SIGN && (token->code == ',' || token->code == '-'));
    lexer->run = constant ? lexer->run + 1 : 0;
    return lexer->run > 128;
}

void lexer_emit(struct lexer *lexer, struct token token)
{
    struct source *const source = lexer->source;
    if (is_in_a_table(lexer, &token) || source->count == SOURCE_MOST_TOKENS || source->failed)
        return;
    if (source->count == source->capacity) {
        const int capacity = source->capacity ? 2 * source->capacity : 4096;
        struct token *const grown = realloc(source->token, (size_t)capacity * sizeof *grown);
        if (!grown) {
            source->failed = true;
            return;
        }
        source->token = grown;
        source->capacity = capacity;
    }
    token.match = token.parent = -1;
    token.line = lexer->line;
    token.file = lexer->file;
    token.first = token.text == lexer->line_begin;
    token.outdented = lexer->outdented;
    source->token[source->count++] = token;
}

void lexer_emit_sign(struct lexer *lexer, const char *text, size_t length, int sign)
{
    lexer_emit(lexer,
               (struct token){.text = text, .length = (uint32_t)length, .code = sign, .kind = TOKEN_SIGN});
}

/* The value of an integer literal; of others the kind changes. */
static void read_value(struct token *token)
{
    char digits[48];
    size_t length = 0;
    token->kind = TOKEN_TEXT;
    for (uint32_t i = 0; i < token->length; i++) {
        if (length == sizeof digits - 1)
            return;
        if (token->text[i] != '\'')
            digits[length++] = token->text[i];
    }
    digits[length] = '\0';
    const bool hex = digits[0] == '0' && (digits[1] | 32) == 'x',
               binary = digits[0] == '0' && (digits[1] | 32) == 'b';
    char *end;
    unsigned long long value = strtoull(digits + (binary ? 2 : 0), &end,
                                        hex                ? 16
                                        : binary           ? 2
                                        : digits[0] == '0' ? 8
                                                           : 10);
    if (!hex && !binary && (*end == 'e' || *end == 'E') && is_digit(end[1]))
        for (long power = strtol(end + 1, &end, 10); power > 0; power--)
            value = value > INT64_MAX / 10 ? UINT64_MAX : value * 10;
    end += strspn(end, "uUlLzZ");
    if (*end && *end != '_')
        token->kind = TOKEN_FLOAT;
    else if (value <= INT64_MAX) {
        token->kind = TOKEN_NUMBER;
        token->value = (int64_t)value;
    }
}

static void read_number(struct lexer *lexer)
{
    const char *const begin = lexer->p;
    const bool hex = lexer_sees(lexer, "0x") || lexer_sees(lexer, "0X");
    for (; lexer->p < lexer->end; lexer->p++) {
        const char c = *lexer->p, last = lexer->p > begin ? lexer->p[-1] : '0';
        const char next = lexer->end - lexer->p > 1 ? lexer->p[1] : ' ';
        const bool exponent = (c == '+' || c == '-') && ((!hex && (last | 32) == 'e') || (last | 32) == 'p');
        const bool separator = c == '\'' && (is_letter(next) || is_digit(next));
        if (!is_letter(c) && !is_digit(c) && c != '.' && !exponent && !separator)
            break;
    }
    struct token token = {.text = begin, .length = (uint32_t)(lexer->p - begin)};
    read_value(&token);
    lexer_emit(lexer, token);
}

/* R"mark(..)mark", from the quote on. */
static void read_raw_string(struct lexer *lexer)
{
    const char *const begin = lexer->p;
    const char *const open = memchr(begin, '(', (size_t)(lexer->end - begin));
    char mark[20];
    const size_t length = open ? (size_t)(open - begin) : sizeof mark;
    const char *stop = lexer->end;
    if (length < sizeof mark - 1) {
        mark[0] = ')';
        memcpy(mark + 1, begin + 1, length - 1);
        mark[length] = '"';
        const char *const found = memmem(open, (size_t)(lexer->end - open), mark, length + 1);
        stop = found ? found + length + 1 : lexer->end;
    }
    lexer_skip_to(lexer, stop);
    lexer_emit(lexer, (struct token){.text = begin, .length = 1, .kind = TOKEN_TEXT});
}

/* An unclosed one ends with its line. */
static void read_string(struct lexer *lexer)
{
    const char *const begin = lexer->p++;
    for (; lexer->p < lexer->end && *lexer->p != *begin; lexer->p++) {
        if (*lexer->p == '\\' && lexer->end - lexer->p > 1)
            lexer->p++;
        else if (*lexer->p == '\n')
            break;
        lexer->line += *lexer->p == '\n';
    }
    lexer->p += lexer->p < lexer->end && *lexer->p == *begin;
    lexer_emit(lexer, (struct token){.text = begin, .length = 1, .kind = TOKEN_TEXT});
}

static void read_name(struct lexer *lexer)
{
    static const char *const raw[] = {"R", "LR", "uR", "UR", "u8R"};
    static const struct {
        const char *text;
        int sign;
    } spelled[] = {{"and", SIGN_AND}, {"or", SIGN_OR}, {"not", '!'}};
    const char *const begin = lexer->p;
    while (lexer->p < lexer->end && (is_letter(*lexer->p) || is_digit(*lexer->p)))
        lexer->p++;
    const size_t length = (size_t)(lexer->p - begin);
    if (lexer->p < lexer->end && *lexer->p == '"')
        for (size_t i = 0; i < sizeof raw / sizeof *raw; i++)
            if (length == strlen(raw[i]) && memcmp(begin, raw[i], length) == 0) {
                read_raw_string(lexer);
                return;
            }
    for (size_t i = 0; i < sizeof spelled / sizeof *spelled; i++)
        if (length == strlen(spelled[i].text) && memcmp(begin, spelled[i].text, length) == 0) {
            lexer_emit_sign(lexer, begin, length, spelled[i].sign);
            return;
        }
    const int name = source_intern(lexer->source, begin, length);
    if (name >= 0)
        lexer_emit(lexer, (struct token){.text = begin, .length = (uint32_t)length, .code = name});
}

static void read_sign(struct lexer *lexer)
{
    static const struct {
        const char *text;
        int sign;
    } signs[] = {{"<<=", SIGN_ASSIGN_OTHER}, {">>=", SIGN_ASSIGN_OTHER},
                 {"<<<", SIGN_LAUNCH},       {"...", SIGN_DOTS},
                 {"->", SIGN_ARROW},         {"::", SIGN_SCOPE},
                 {"&&", SIGN_AND},           {"||", SIGN_OR},
                 {"==", SIGN_EQUAL},         {"!=", SIGN_NOT_EQUAL},
                 {"<=", SIGN_LESS_EQUAL},    {">=", SIGN_GREATER_EQUAL},
                 {"<<", SIGN_SHIFT_LEFT},    {"++", SIGN_INCREMENT},
                 {"--", SIGN_DECREMENT},     {"+=", SIGN_ADD_TO},
                 {"-=", SIGN_SUBTRACT_FROM}, {"/=", SIGN_DIVIDE_BY},
                 {"%=", SIGN_REMAINDER_BY},  {"*=", SIGN_ASSIGN_OTHER},
                 {"&=", SIGN_ASSIGN_OTHER},  {"|=", SIGN_ASSIGN_OTHER},
                 {"^=", SIGN_ASSIGN_OTHER}};
    const char *const begin = lexer->p;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (lexer_sees(lexer, signs[i].text)) {
            lexer->p += strlen(signs[i].text);
            lexer_emit_sign(lexer, begin, (size_t)(lexer->p - begin), signs[i].sign);
            return;
        }
    lexer->p++;
    lexer_emit_sign(lexer, begin, 1, (unsigned char)*begin);
}

static void read_token(struct lexer *lexer)
{
    const char c = *lexer->p, next = lexer->end - lexer->p > 1 ? lexer->p[1] : ' ';
    lexer->line_start = false;
    if (is_letter(c))
        read_name(lexer);
    else if (is_digit(c) || (c == '.' && is_digit(next)))
        read_number(lexer);
    else if (c == '"' || c == '\'')
        read_string(lexer);
    else
        read_sign(lexer);
}

void lexer_read(struct lexer *lexer, const char *stop)
{
    const char *const end = lexer->end;
    lexer->end = stop;
    while (lexer->p < stop && !lexer->source->failed) {
        const char c = *lexer->p;
        if (c == '\n') {
            lexer->p++;
            lexer_new_line(lexer);
        } else if (is_space(c) || (c == '\\' && stop - lexer->p > 1 && is_space(lexer->p[1])))
            lexer->p++;
        else if (c == '#' && lexer->line_start)
            lexer_read_directive(lexer);
        else if (lexer->hidden)
            lexer_skip_hidden_line(lexer);
        else if (c == '/' && (lexer_sees(lexer, "//") || lexer_sees(lexer, "/*")))
            lexer_skip_comment(lexer);
        else
            read_token(lexer);
    }
    lexer->end = end;
}

int source_read(struct source *source, const char *text, size_t size, const char *main_file)
{
    struct lexer lexer = {
        .source = source, .p = text, .end = text + size, .main_file = main_file, .file = -1};
    *source = (struct source){0};
    if (source_add_words(source) != 0)
        return -1;
    lexer_new_line(&lexer);
    lexer_read(&lexer, lexer.end);
    return source->failed ? -1 : source_match_brackets(source);
}

void source_free(struct source *source)
{
    free(source->token);
    free(source->name);
    free(source->slot);
    *source = (struct source){0};
}
