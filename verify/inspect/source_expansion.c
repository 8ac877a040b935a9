/* Names replaced by the values that the text gives them. */
#include "source_reader.h"

enum { MOST_PASSES = 8, MOST_VALUE_NODES = 64 };

static bool ends_value(const struct reader *reader, int at, int limit)
{
    const struct source *const source = &reader->source;
    return at == limit || token_is(source, at, ';') || token_is(source, at, ',') ||
           token_is(source, at, ')') || token_is(source, at, '}');
}

int expansion_of(struct reader *reader, int name)
{
    struct tree *const tree = &reader->tree;
    const struct definition *const definition = &reader->definition[name];
    if (!definition_is_single(definition) || tree->full)
        return -1;
    if (definition->begin >= definition->limit)
        return tree_leaf(tree, NODE_NUMBER, definition->offset, definition->begin);
    const int mark = tree->count, limit = tree->limit;
    const bool quiet = reader->quiet;
    int at = definition->begin;
    if (mark + MOST_VALUE_NODES < limit)
        tree->limit = mark + MOST_VALUE_NODES;
    reader->quiet = true;
    int node = expression_read(reader, &at, definition->limit);
    if (definition->offset)
        node = tree_binary(tree, NODE_ADD, node, tree_leaf(tree, NODE_NUMBER, definition->offset, at), at);
    const bool good = !tree->full && at > definition->begin && ends_value(reader, at, definition->limit);
    reader->quiet = quiet;
    tree->limit = limit;
    tree->full = false;
    if (good)
        return node;
    tree->count = mark;
    return -1;
}

void expansion_fold_constants(struct reader *reader)
{
    bool found = true;
    for (int pass = 0; found && pass < MOST_PASSES; pass++) {
        found = false;
        for (int name = 0; name < reader->source.names; name++) {
            struct definition *const definition = &reader->definition[name];
            if (definition->constant || !definition_is_single(definition))
                continue;
            tree_clear(&reader->tree);
            definition->constant =
                tree_is_number(&reader->tree, expansion_of(reader, name), &definition->value);
            found |= definition->constant;
        }
    }
    tree_clear(&reader->tree);
}

static int expand_name(struct reader *reader, int node, int depth)
{
    struct tree *const tree = &reader->tree;
    const int name = (int)tree->node[node].value;
    struct definition *const definition = &reader->definition[name];
    if (definition->active)
        return node;
    const int value = expansion_of(reader, name);
    if (value < 0 || tree->node[value].opaque || tree->node[value].fraction)
        return node;
    definition->active = true;
    const int all = expansion_of_all(reader, value, depth - 1);
    definition->active = false;
    return tree->node[all].opaque || tree_mentions(tree, all, name) ? node : all;
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
