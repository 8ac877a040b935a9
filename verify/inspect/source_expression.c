/* Expressions: operators by their precedence, and casts. */
#include <string.h>

#include "source_operand.h"
#include "source_reader.h"

struct operation {
    int sign;
    int precedence;
    enum node_kind kind; /* NODE_OTHER: bits */
    enum clue_relation relation;
};
static const struct operation operations[] = {
    {SIGN_OR, 1, NODE_OR, 0},
    {SIGN_AND, 2, NODE_AND, 0},
    {'|', 3, NODE_OTHER, 0},
    {'^', 4, NODE_OTHER, 0},
    {'&', 5, NODE_OTHER, 0},
    {SIGN_EQUAL, 6, NODE_COMPARE, CLUE_EQUAL},
    {SIGN_NOT_EQUAL, 6, NODE_COMPARE, CLUE_NOT_EQUAL},
    {'<', 7, NODE_COMPARE, CLUE_LESS},
    {'>', 7, NODE_COMPARE, CLUE_GREATER},
    {SIGN_LESS_EQUAL, 7, NODE_COMPARE, CLUE_LESS_EQUAL},
    {SIGN_GREATER_EQUAL, 7, NODE_COMPARE, CLUE_GREATER_EQUAL},
    {SIGN_SHIFT_LEFT, 8, NODE_OTHER, 0},
    {'+', 9, NODE_ADD, 0},
    {'-', 9, NODE_SUBTRACT, 0},
    {'*', 10, NODE_MULTIPLY, 0},
    {'/', 10, NODE_DIVIDE, 0},
    {'%', 10, NODE_REMAINDER, 0},
};
static const struct operation shift_right = {'>', 8, NODE_OTHER, 0};

/* NULL: no operator of two operands is at `at`. */
static const struct operation *operation_at(const struct source *source, int at, int end, int *length)
{
    *length = 1;
    if (at >= end || source->token[at].kind != TOKEN_SIGN)
        return NULL;
    if (token_is(source, at, '>') && at + 1 < end && token_is(source, at + 1, '>') &&
        token_touches_next(source, at)) {
        *length = 2;
        return &shift_right;
    }
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (operations[i].sign == source->token[at].code)
            return &operations[i];
    return NULL;
}

static int combine(struct reader *reader, const struct operation *operation, int left, int right, int token)
{
    struct tree *const tree = &reader->tree;
    if (operation->kind == NODE_COMPARE)
        return tree_compare(tree, operation->relation, left, right, token);
    if (operation->kind == NODE_OTHER)
        return tree_bits(tree, operation->sign, left, right, token);
    /* "auto &&name" is a declaration */
    const bool type = tree->node[left].kind == NODE_OPAQUE &&
                      token_word(&reader->source, tree->node[left].token) == WORD_TYPE;
    return tree_binary(tree, operation->kind == NODE_AND && type ? NODE_OTHER : operation->kind, left, right,
                       token);
}

static int read_unary(struct reader *reader, int *at, int end);

static int read_binary(struct reader *reader, int *at, int end, int least)
{
    const int begin = *at;
    int length, left = read_unary(reader, at, end);
    if (*at == begin)
        return 0;
    for (const struct operation *next; (next = operation_at(&reader->source, *at, end, &length)) != NULL;) {
        if (next->precedence < least || (reader->quiet && reader->tree.full))
            break;
        const int token = *at, right_begin = *at += length;
        const int right = read_binary(reader, at, end, next->precedence + 1);
        if (*at == right_begin)
            break;
        left = combine(reader, next, left, right, token);
    }
    return left;
}

static int read_assignment(struct reader *reader, int *at, int end);

/* a ? b : c ? d : e, and so on; its value is "?". */
static int read_choice(struct reader *reader, int *at, int end)
{
    struct tree *const tree = &reader->tree;
    int node = read_binary(reader, at, end, 1), all = -1;
    while (*at < end && token_is(&reader->source, *at, '?') && !(reader->quiet && tree->full)) {
        const int token = (*at)++;
        const int chosen = read_assignment(reader, at, end);
        node = tree_binary(tree, NODE_CHOICE, node, chosen, token);
        all = all < 0 ? node : tree_binary(tree, NODE_OTHER, all, node, token);
        if (*at >= end || !token_is(&reader->source, *at, ':'))
            return all;
        ++*at;
        node = read_binary(reader, at, end, 1);
    }
    return all < 0 ? node : tree_binary(tree, NODE_OTHER, all, node, tree->node[all].token);
}

/* Is it x = x + 3? */
static bool is_step(const struct tree *tree, int left, int right)
{
    const struct node *const sum = &tree->node[right];
    int64_t step;
    return (sum->kind == NODE_ADD || sum->kind == NODE_SUBTRACT) && tree->node[left].kind == NODE_NAME &&
           tree->node[sum->left].kind == NODE_NAME && tree->node[sum->left].value == tree->node[left].value &&
           tree_is_number(tree, sum->right, &step);
}

/* The node of an assignment: a step, a division, or a value that is "?". */
static int assign(struct reader *reader, int sign, int left, int right, int token)
{
    struct tree *const tree = &reader->tree;
    int64_t value;
    if (sign == '=' && is_step(tree, left, right))
        return tree_binary(tree, NODE_STEP, left, tree->node[right].right, token);
    if ((sign == SIGN_ADD_TO || sign == SIGN_SUBTRACT_FROM) && tree_is_number(tree, right, &value))
        return tree_binary(tree, NODE_STEP, left, right, token);
    if (sign == SIGN_DIVIDE_BY || sign == SIGN_REMAINDER_BY) {
        const enum node_kind kind = sign == SIGN_DIVIDE_BY ? NODE_DIVIDE : NODE_REMAINDER;
        return tree_binary(tree, NODE_OTHER, tree_binary(tree, kind, left, right, token), -1, token);
    }
    return tree_binary(tree, NODE_OTHER, left, right, token);
}

static int read_assignment(struct reader *reader, int *at, int end)
{
    const int begin = *at;
    if (reader->depth >= TREE_MOST_DEPTH || (reader->quiet && reader->tree.full))
        return 0;
    reader->depth++;
    int node = read_choice(reader, at, end);
    const int token = *at;
    const int sign = token > begin && token < end && reader->source.token[token].kind == TOKEN_SIGN
                         ? reader->source.token[token].code
                         : 0;
    if (sign == '=' || (sign >= SIGN_ADD_TO && sign <= SIGN_ASSIGN_OTHER)) {
        ++*at;
        node = assign(reader, sign, node, read_assignment(reader, at, end), token);
    }
    reader->depth--;
    return node;
}

int expression_read(struct reader *reader, int *at, int end)
{
    return read_assignment(reader, at, end);
}

/* --- operators of one operand --- */

static bool starts_operand(const struct source *source, int at, bool sure)
{
    const struct token *const token = &source->token[at];
    if (token->kind != TOKEN_SIGN)
        return token->kind != TOKEN_NAME || !word_precedes_expression(token_word(source, at));
    return token->code == '(' || (sure && token->code < 256 && strchr("-!~*&+{", token->code)) ||
           (sure && (token->code == SIGN_INCREMENT || token->code == SIGN_DECREMENT));
}

/* Is the parenthesis at `open` a type, and an operand behind it? */
static bool is_cast(const struct source *source, int open, int end, bool *pointer)
{
    const int close = source->token[open].match;
    bool sure = false;
    int names = 0;
    if (close <= open + 1 || close > open + 16 || close + 1 >= end)
        return false;
    for (int i = open + 1; i < close; i++) {
        const struct token *const token = &source->token[i];
        const enum word word = token_word(source, i);
        if (token->kind == TOKEN_NAME && !token_is_type(source, i))
            return false;
        if (token->kind == TOKEN_NAME) {
            names += !token_is(source, i - 1, SIGN_SCOPE);
            sure |= word != WORD_NONE ||
                    (token->length > 2 && memcmp(token->text + token->length - 2, "_t", 2) == 0);
        } else if (token_is(source, i, '<') && token->match > i && token->match < close)
            i = token->match;
        else if (token->kind != TOKEN_SIGN || i == open + 1 ||
                 (token->code != '*' && token->code != '&' && token->code != SIGN_SCOPE))
            return false;
    }
    *pointer = token_is(source, close - 1, '*');
    sure |= *pointer;
    return (sure || names == 1) && starts_operand(source, close + 1, sure);
}

/* The greatest value of a narrow integer type in brackets; 0: it is another type. */
static int64_t greatest_of(const struct source *source, int open)
{
    static const struct {
        const char *name;
        int64_t greatest;
    } narrow[] = {{"int16_t", INT16_MAX}, {"short", INT16_MAX}, {"uint16_t", UINT16_MAX}};
    const struct token *const type = &source->token[open + 1];
    for (size_t i = 0; source->token[open].match == open + 2 && i < sizeof narrow / sizeof *narrow; i++)
        if ((size_t)type->length == strlen(narrow[i].name) &&
            memcmp(type->text, narrow[i].name, strlen(narrow[i].name)) == 0)
            return narrow[i].greatest;
    return 0;
}

static int read_cast(struct reader *reader, int *at, int end, bool pointer)
{
    const int token = *at;
    *at = reader->source.token[token].match + 1;
    const int operand = read_unary(reader, at, end);
    const int64_t greatest = pointer ? 0 : greatest_of(&reader->source, token);
    if (greatest > 0 && operand >= 0)
        clues_add_overflow(reader, operand, greatest, token);
    return pointer ? tree_binary(&reader->tree, NODE_OTHER, operand, -1, token) : operand;
}

static int read_signed(struct reader *reader, int *at, int end, int sign)
{
    const int token = (*at)++;
    const int begin = *at, operand = read_unary(reader, at, end);
    if (*at == begin)
        return 0;
    if (sign == '-' || sign == '!' || sign == '~')
        return tree_unary(&reader->tree, sign, operand, token);
    return sign == '+' ? operand : tree_binary(&reader->tree, NODE_OTHER, operand, -1, token);
}

static int read_unary_inside(struct reader *reader, int *at, int end)
{
    const struct token *const token = &reader->source.token[*at];
    bool pointer;
    if (token->kind == TOKEN_SIGN)
        switch (token->code) {
        case '-':
        case '!':
        case '~':
        case '+':
        case '*':
        case '&':
        case SIGN_INCREMENT:
        case SIGN_DECREMENT: return read_signed(reader, at, end, token->code);
        case '(':
            if (is_cast(&reader->source, *at, end, &pointer))
                return read_cast(reader, at, end, pointer);
            break;
        default: break;
        }
    return operand_read(reader, at, end);
}

static int read_unary(struct reader *reader, int *at, int end)
{
    if (*at >= end || reader->depth >= TREE_MOST_DEPTH)
        return 0;
    reader->depth++;
    const int node = read_unary_inside(reader, at, end);
    reader->depth--;
    return node;
}
