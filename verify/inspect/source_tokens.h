/* Tokens of C, C++, CUDA or HIP text, with their lines, files and matching brackets. */
#ifndef UNSEEN_SOURCE_TOKENS_H
#define UNSEEN_SOURCE_TOKENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SOURCE_MOST_TOKENS = 1 << 20 }; /* the rest of a longer text is left out */

enum token_kind {
    TOKEN_NAME,
    TOKEN_NUMBER,
    TOKEN_FLOAT,
    TOKEN_TEXT, /* a string, a character, or a number beyond 63 bits */
    TOKEN_SIGN
};

/* A sign of one character has its code. ">>" is two signs, since it may close two lists of template
 * arguments. */
enum sign {
    SIGN_ARROW = 256,
    SIGN_SCOPE,
    SIGN_AND,
    SIGN_OR,
    SIGN_EQUAL,
    SIGN_NOT_EQUAL,
    SIGN_LESS_EQUAL,
    SIGN_GREATER_EQUAL,
    SIGN_SHIFT_LEFT,
    SIGN_LAUNCH, /* <<< */
    SIGN_INCREMENT,
    SIGN_DECREMENT,
    SIGN_ADD_TO,
    SIGN_SUBTRACT_FROM,
    SIGN_DIVIDE_BY,
    SIGN_REMAINDER_BY,
    SIGN_ASSIGN_OTHER, /* *=, &=, <<= and the like */
    SIGN_DOTS
};

/* Names with a meaning of their own. */
enum word {
    WORD_NONE,
    WORD_IF,
    WORD_ELSE,
    WORD_FOR,
    WORD_WHILE,
    WORD_SWITCH,
    WORD_CASE,
    WORD_CONSTEXPR,
    WORD_TEMPLATE,
    WORD_ENUM,
    WORD_OPERATOR,
    WORD_DEFAULT,
    WORD_RETURN,
    WORD_LEAVE,   /* break, throw, ..: the statement ends the block, too */
    WORD_SKIPPED, /* else, new, ..: an expression may follow */
    WORD_SIZEOF,
    WORD_CAST, /* static_cast, .. */
    WORD_TYPE,
    WORD_QUALIFIER,
    WORD_DIM3,
    WORD_LAUNCH_BOUNDS,
    WORD_INDEX, /* blockIdx, .. */
    WORD_TRUE,
    WORD_FALSE,
    WORD_NULL,
    WORD_LIMIT /* INT_MAX, .. */
};

struct token {
    const char *text;
    int64_t value; /* of a number */
    uint32_t length;
    int code;   /* of a name its index in the names, of a sign its enum sign or character */
    int match;  /* of an opening bracket the index of the closing one; -1: there is none */
    int parent; /* innermost opening bracket around the token; -1: none */
    int line;
    int file; /* index in the names of the base name; -1: the candidate's own file */
    enum token_kind kind;
    bool first;     /* in the first column of its line */
    bool outdented; /* the line begins in its first column */
    bool macro;     /* the name that a #define defines */
};

struct source_name {
    const char *text;
    uint32_t length;
    enum word word;
    int64_t size; /* of a type in bytes, 0: unknown; of a WORD_LIMIT its value */
};

struct source {
    struct token *token;
    int count, capacity;
    struct source_name *name;
    int names, name_capacity;
    int *slot; /* hash table of names: index + 1, or 0 */
    int slots;
    bool failed; /* memory is out */
};

/* Reads `text` as source_clues (source_clues.h) has it. The tokens point into it. Returns 0, or -1 when
 * memory is out. Free the source in both cases. */
int source_read(struct source *source, const char *text, size_t size, const char *main_file);
void source_free(struct source *source);

/* Sets `match` and `parent` of all tokens. Returns 0, or -1 when memory is out. */
int source_match_brackets(struct source *source);

static inline bool token_is(const struct source *source, int at, int sign)
{
    return at >= 0 && at < source->count && source->token[at].kind == TOKEN_SIGN &&
           source->token[at].code == sign;
}

static inline bool token_is_name(const struct source *source, int at)
{
    return at >= 0 && at < source->count && source->token[at].kind == TOKEN_NAME;
}

/* The word at `at`; WORD_NONE for other names and for what is no name. */
static inline enum word token_word(const struct source *source, int at)
{
    return token_is_name(source, at) ? source->name[source->token[at].code].word : WORD_NONE;
}

/* Does an expression follow the word, as behind "return"? */
static inline bool word_precedes_expression(enum word word)
{
    return word == WORD_SKIPPED || word == WORD_RETURN || word == WORD_LEAVE || word == WORD_ELSE;
}

/* Is the token a part of a declaration's type? */
static inline bool token_is_type(const struct source *source, int at)
{
    const enum word word = token_word(source, at);
    return token_is_name(source, at) &&
           (word == WORD_NONE || word == WORD_TYPE || word == WORD_QUALIFIER || word == WORD_DIM3);
}

/* Do the tokens at `at` and after it touch each other? */
static inline bool token_touches_next(const struct source *source, int at)
{
    return at + 1 < source->count &&
           source->token[at].text + source->token[at].length == source->token[at + 1].text;
}

#endif
