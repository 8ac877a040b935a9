/* Names replaced by the values that the text gives them. */
#include "source_reader.h"

enum { MOST_PASSES = 8, MOST_VALUE_NODES = 64 };

static bool ends_value(const struct reader *reader, int at, int limit)
{
    const struct source *const source = &reader->source;
    return at == limit || token_is(source, at, ';') || token_is(source, at, ',') ||
           token_is(source, at, ')') || token_is(source, at, '}');
}

static int value_of(struct reader *reader, const struct definition *definition, int site)
{
    struct tree *const tree = &reader->tree;
    /* x = y = 3 is no value, and a long chain takes long to read from each of its names. */
    if (!definition_is_single(definition) || tree->full ||
        token_is(&reader->source, definition->begin + 1, '='))
        return -1;
    if (definition->begin >= definition->limit)
        return tree_leaf(tree, NODE_NUMBER, definition->offset, definition->begin);
    const int mark = tree->count, limit = tree->limit, outer_site = reader->site;
    const bool quiet = reader->quiet;
    int at = definition->begin;
    if (mark + MOST_VALUE_NODES < limit)
        tree->limit = mark + MOST_VALUE_NODES;
    reader->quiet = true;
    reader->site = definition->macro ? site : -1;
    int node = expression_read(reader, &at, definition->limit);
    if (definition->offset)
        node = tree_binary(tree, NODE_ADD, node, tree_leaf(tree, NODE_NUMBER, definition->offset, at), at);
    const bool good = !tree->full && at > definition->begin && ends_value(reader, at, definition->limit);
    reader->site = outer_site;
    reader->quiet = quiet;
    tree->limit = limit;
    tree->full = false;
    if (good)
        return node;
    tree->count = mark;
    return -1;
}

int expansion_of(struct reader *reader, int node)
{
    return value_of(reader, reader_definition(reader, node), reader->tree.node[node].token);
}

void expansion_fold_constants(struct reader *reader)
{
    bool found = true;
    for (int pass = 0; found && pass < MOST_PASSES; pass++) {
        found = false;
        const struct definition *last = NULL; /* other scopes of a name have the same value */
        for (int i = 0; i < reader->definitions.count; i++) {
            struct definition *const definition = &reader->definitions.item[i];
            if (definition->constant || !definition_is_single(definition))
                continue;
            if (last && last->begin == definition->begin && last->offset == definition->offset) {
                definition->constant = last->constant;
                definition->value = last->value;
                continue;
            }
            last = definition;
            tree_clear(&reader->tree);
            definition->constant =
                tree_is_number(&reader->tree, value_of(reader, definition, -1), &definition->value);
            found |= definition->constant;
        }
    }
    tree_clear(&reader->tree);
}

static int opaque_parts(const struct tree *tree, int at)
{
    const struct node *const node = &tree->node[at];
    if (!node->opaque || node->kind < NODE_NEGATE || node->kind > NODE_REMAINDER)
        return node->opaque;
    return opaque_parts(tree, node->left) + (node->right >= 0 ? opaque_parts(tree, node->right) : 0);
}

/* May it stand for a name? One "?" may, but no value that is "?" as a whole: terms may share the name. */
static bool is_replacement(const struct tree *tree, int at)
{
    const struct node *const node = &tree->node[at];
    if (!node->opaque)
        return true;
    return node->kind >= NODE_NEGATE && node->kind <= NODE_REMAINDER && opaque_parts(tree, at) == 1;
}

static int expand_name(struct reader *reader, int node, int depth)
{
    struct tree *const tree = &reader->tree;
    const int name = (int)tree->node[node].value;
    struct definition *const definition = reader_definition(reader, node);
    if (!definition || definition->active)
        return node;
    const int value = expansion_of(reader, node);
    if (value < 0 || tree->node[value].fraction || !is_replacement(tree, value))
        return node;
    definition->active = true;
    const int all = expansion_of_all(reader, value, depth - 1);
    definition->active = false;
    return !is_replacement(tree, all) || tree_mentions(tree, all, name) ? node : all;
}

int expansion_of_all(struct reader *reader, int node, int depth)
{
    struct tree *const tree = &reader->tree;
    const struct node old = tree->node[node];
    if (depth == 0 || tree->full)
        return node;
    if (old.kind == NODE_NAME)
        return expand_name(reader, node, depth);
    if (old.kind < NODE_NEGATE || old.kind > NODE_REMAINDER)
        return node;
    const int left = expansion_of_all(reader, old.left, depth);
    if (old.kind == NODE_NEGATE)
        return tree_unary(tree, '-', left, old.token);
    const int right = expansion_of_all(reader, old.right, depth);
    return tree_binary(tree, old.kind, left, right, old.token);
}
