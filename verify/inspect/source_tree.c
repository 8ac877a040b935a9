#include "source_tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void add_contents(const struct tree *tree, struct node *node)
{
    const struct node *const left = node->left >= 0 ? &tree->node[node->left] : NULL;
    const struct node *const right = node->right >= 0 ? &tree->node[node->right] : NULL;
    const bool arithmetic = node->kind >= NODE_NEGATE && node->kind <= NODE_REMAINDER;
    node->number = node->kind == NODE_NUMBER;
    node->fraction = node->kind == NODE_FLOAT;
    if (arithmetic) {
        node->number = left->number || (right && right->number);
        node->fraction = left->fraction || (right && right->fraction);
    }
    node->opaque = arithmetic
                       ? left->opaque || (right && right->opaque)
                       : node->kind != NODE_NUMBER && node->kind != NODE_FLOAT && node->kind != NODE_NAME;
}

/* The operand that stands for a node without room: the larger one, where it may hold conditions. */
static int without_room(const struct tree *tree, const struct node *node)
{
    if (node->kind == NODE_AND || node->kind == NODE_OR || node->kind == NODE_CHOICE)
        return node->left;
    if (node->kind != NODE_OTHER)
        return 0;
    const bool leaf = tree->node[node->left].left < 0;
    return leaf && node->right >= 0 ? node->right : node->left;
}

static int add_node(struct tree *tree, struct node node)
{
    if (tree->count >= tree->limit) {
        tree->full = true;
        return without_room(tree, &node);
    }
    add_contents(tree, &node);
    tree->node[tree->count] = node;
    return tree->count++;
}

void tree_clear(struct tree *tree)
{
    tree->count = 0;
    tree->limit = TREE_MOST_NODES;
    tree->full = false;
    tree_leaf(tree, NODE_OPAQUE, 0, 0);
}

int tree_leaf(struct tree *tree, enum node_kind kind, int64_t value, int token)
{
    return add_node(tree,
                    (struct node){.kind = kind, .value = value, .left = -1, .right = -1, .token = token});
}

static int other(struct tree *tree, int left, int right, int token)
{
    return add_node(tree, (struct node){.kind = NODE_OTHER, .left = left, .right = right, .token = token});
}

bool tree_is_number(const struct tree *tree, int at, int64_t *value)
{
    if (at < 0 || tree->node[at].kind != NODE_NUMBER)
        return false;
    *value = tree->node[at].value;
    return true;
}

bool tree_is_boolean(const struct tree *tree, int at)
{
    const enum node_kind kind = at < 0 ? NODE_OPAQUE : tree->node[at].kind;
    return kind == NODE_COMPARE || kind == NODE_AND || kind == NODE_OR || kind == NODE_NOT;
}

static bool fold(enum node_kind kind, int64_t a, int64_t b, int64_t *value)
{
    switch (kind) {
    case NODE_ADD: return !__builtin_add_overflow(a, b, value);
    case NODE_SUBTRACT: return !__builtin_sub_overflow(a, b, value);
    case NODE_MULTIPLY: return !__builtin_mul_overflow(a, b, value);
    case NODE_DIVIDE:
    case NODE_REMAINDER:
        if (b == 0 || b == -1)
            return false;
        *value = kind == NODE_DIVIDE ? a / b : a % b;
        return true;
    default: return false;
    }
}

/* (x + 64) - 1 as x + 63: the sum's new constant, and its operand without one. */
static bool merge_constants(const struct tree *tree, enum node_kind kind, int left, int64_t b, int *operand,
                            int64_t *sum)
{
    const struct node *const node = &tree->node[left];
    int64_t a;
    if ((kind != NODE_ADD && kind != NODE_SUBTRACT) ||
        (node->kind != NODE_ADD && node->kind != NODE_SUBTRACT) || !tree_is_number(tree, node->right, &a) ||
        a == INT64_MIN || b == INT64_MIN)
        return false;
    *operand = node->left;
    return !__builtin_add_overflow(node->kind == NODE_ADD ? a : -a, kind == NODE_ADD ? b : -b, sum);
}

/* Without x + 0, x * 1 and x + -3. Returns -1 where nothing is simpler. */
static int simplify(struct tree *tree, enum node_kind kind, int left, int right, int token)
{
    int64_t a, b, value;
    int operand;
    const bool left_number = tree_is_number(tree, left, &a);
    if (!tree_is_number(tree, right, &b))
        return left_number && a == 1 && kind == NODE_MULTIPLY ? right : -1;
    if (left_number && fold(kind, a, b, &value))
        return tree_leaf(tree, NODE_NUMBER, value, token);
    if (((kind == NODE_ADD || kind == NODE_SUBTRACT) && b == 0) ||
        ((kind == NODE_MULTIPLY || kind == NODE_DIVIDE) && b == 1))
        return left;
    if (merge_constants(tree, kind, left, b, &operand, &value))
        return tree_binary(tree, NODE_ADD, operand, tree_leaf(tree, NODE_NUMBER, value, token), token);
    if ((kind == NODE_ADD || kind == NODE_SUBTRACT) && b < 0 && b != INT64_MIN)
        return add_node(tree, (struct node){.kind = kind == NODE_ADD ? NODE_SUBTRACT : NODE_ADD,
                                            .left = left,
                                            .right = tree_leaf(tree, NODE_NUMBER, -b, token),
                                            .token = token});
    return -1;
}

/* "?" with anything but a number is "?". */
static bool is_plain_opaque(const struct tree *tree, int at)
{
    const enum node_kind kind = tree->node[at].kind;
    return kind == NODE_OPAQUE || kind == NODE_INDEX || kind == NODE_OTHER || kind == NODE_CHOICE ||
           kind == NODE_STEP || tree_is_boolean(tree, at);
}

int tree_binary(struct tree *tree, enum node_kind kind, int left, int right, int token)
{
    if (kind >= NODE_ADD && kind <= NODE_REMAINDER) {
        const int simple = simplify(tree, kind, left, right, token);
        if (simple >= 0)
            return simple;
        int64_t value;
        if (!tree_is_number(tree, left, &value) && !tree_is_number(tree, right, &value) &&
            (is_plain_opaque(tree, left) || is_plain_opaque(tree, right)) && !tree->node[left].number &&
            !tree->node[right].number)
            return other(tree, left, right, token);
    }
    return add_node(tree, (struct node){.kind = kind, .left = left, .right = right, .token = token});
}

int tree_compare(struct tree *tree, enum clue_relation relation, int left, int right, int token)
{
    return add_node(
        tree, (struct node){
                  .kind = NODE_COMPARE, .relation = relation, .left = left, .right = right, .token = token});
}

static bool is_power_of_two(int64_t value)
{
    return value > 0 && (value & (value - 1)) == 0;
}

static int64_t fold_bits(int sign, int64_t a, int64_t b)
{
    return sign == '&' ? a & b : sign == '|' ? a | b : a ^ b;
}

/* Shifts by constants. */
static int shift(struct tree *tree, int sign, int left, int64_t bits, int token)
{
    const int64_t power = (int64_t)1 << bits;
    return tree_binary(tree, sign == '>' ? NODE_DIVIDE : NODE_MULTIPLY, left,
                       tree_leaf(tree, NODE_NUMBER, power, token), token);
}

int tree_bits(struct tree *tree, int sign, int left, int right, int token)
{
    int64_t a, b;
    if (sign == '&' && tree_is_number(tree, left, &a) && !tree_is_number(tree, right, &b))
        return tree_bits(tree, sign, right, left, token);
    if (tree_is_boolean(tree, left) && tree_is_boolean(tree, right) && (sign == '&' || sign == '|'))
        return tree_binary(tree, sign == '&' ? NODE_AND : NODE_OR, left, right, token);
    if (!tree_is_number(tree, right, &b))
        return other(tree, left, right, token);
    if (sign == SIGN_SHIFT_LEFT || sign == '>')
        return b >= 0 && b < 62 ? shift(tree, sign, left, b, token) : other(tree, left, right, token);
    if (tree_is_number(tree, left, &a))
        return tree_leaf(tree, NODE_NUMBER, fold_bits(sign, a, b), token);
    if (sign == '&' && b < INT64_MAX && is_power_of_two(b + 1))
        return tree_binary(tree, NODE_REMAINDER, left, tree_leaf(tree, NODE_NUMBER, b + 1, token), token);
    if (sign == '&' && b < -1 && b > INT64_MIN && is_power_of_two(-b)) {
        const int power = tree_leaf(tree, NODE_NUMBER, -b, token);
        return tree_binary(tree, NODE_MULTIPLY, tree_binary(tree, NODE_DIVIDE, left, power, token), power,
                           token);
    }
    return other(tree, left, right, token);
}

int tree_unary(struct tree *tree, int sign, int operand, int token)
{
    int64_t value;
    const bool number = tree_is_number(tree, operand, &value) && value != INT64_MIN;
    if (number)
        return tree_leaf(tree, NODE_NUMBER, sign == '-' ? -value : sign == '~' ? ~value : !value, token);
    if (sign == '~')
        return other(tree, operand, -1, token);
    return add_node(tree, (struct node){.kind = sign == '!' ? NODE_NOT : NODE_NEGATE,
                                        .left = operand,
                                        .right = -1,
                                        .token = token});
}

bool tree_mentions(const struct tree *tree, int at, int name)
{
    const struct node *const node = &tree->node[at];
    return (node->kind == NODE_NAME && node->value == name) ||
           (node->left >= 0 && tree_mentions(tree, node->left, name)) ||
           (node->right >= 0 && tree_mentions(tree, node->right, name));
}

/* --- text --- */

struct writer {
    const struct tree *tree;
    const struct source *source;
    char *text;
    size_t size, used;
};

static bool put(struct writer *writer, const char *text, size_t length)
{
    if (writer->used + length >= writer->size)
        return false;
    memcpy(writer->text + writer->used, text, length);
    writer->used += length;
    writer->text[writer->used] = '\0';
    return true;
}

static int strength(const struct writer *writer, int at)
{
    switch (writer->tree->node[at].kind) {
    case NODE_ADD:
    case NODE_SUBTRACT: return 1;
    case NODE_MULTIPLY:
    case NODE_DIVIDE:
    case NODE_REMAINDER: return 2;
    case NODE_NEGATE: return 3;
    default: return 4;
    }
}

static bool write_node(struct writer *writer, int at);

static bool write_operand(struct writer *writer, int at, bool parentheses)
{
    return (!parentheses || put(writer, "(", 1)) && write_node(writer, at) &&
           (!parentheses || put(writer, ")", 1));
}

static bool write_node(struct writer *writer, int at)
{
    static const char *const signs[] = {[NODE_ADD] = " + ",
                                        [NODE_SUBTRACT] = " - ",
                                        [NODE_MULTIPLY] = " * ",
                                        [NODE_DIVIDE] = " / ",
                                        [NODE_REMAINDER] = " % "};
    const struct node *const node = &writer->tree->node[at];
    char number[24];
    switch (node->kind) {
    case NODE_NUMBER: return put(writer, number, (size_t)sprintf(number, "%" PRId64, node->value));
    case NODE_NAME: {
        const struct source_name *const name = &writer->source->name[node->value];
        return put(writer, name->text, name->length);
    }
    case NODE_NEGATE:
        return put(writer, "-", 1) && write_operand(writer, node->left, strength(writer, node->left) <= 3);
    case NODE_ADD:
    case NODE_SUBTRACT:
    case NODE_MULTIPLY:
    case NODE_DIVIDE:
    case NODE_REMAINDER: {
        const int own = strength(writer, at);
        return write_operand(writer, node->left, strength(writer, node->left) < own) &&
               put(writer, signs[node->kind], 3) &&
               write_operand(writer, node->right, strength(writer, node->right) <= own);
    }
    default: return put(writer, "?", 1);
    }
}

bool tree_text(const struct tree *tree, const struct source *source, int at, char *text, size_t size)
{
    struct writer writer = {tree, source, text, size, 0};
    *text = '\0';
    return write_node(&writer, at);
}
