/* Expressions of a text as trees. */
#ifndef UNSEEN_SOURCE_TREE_H
#define UNSEEN_SOURCE_TREE_H

#include "gen/draw/clue.h"
#include "source_tokens.h"

enum { TREE_MOST_NODES = 2048, TREE_MOST_DEPTH = 200 };

enum node_kind {
    NODE_OPAQUE, /* "?" */
    NODE_INDEX,  /* the same, of blockIdx and the like */
    NODE_NUMBER,
    NODE_FLOAT,
    NODE_NAME,
    NODE_NEGATE, /* has `left` only */
    NODE_ADD,
    NODE_SUBTRACT,
    NODE_MULTIPLY,
    NODE_DIVIDE,
    NODE_REMAINDER,
    NODE_COMPARE,
    NODE_AND,
    NODE_OR,
    NODE_NOT,    /* has `left` only */
    NODE_CHOICE, /* if `left` is true, `right` */
    NODE_STEP,   /* `left` changes by the number `right` */
    NODE_OTHER   /* a value that is "?", made of `left` and `right`, which may be -1 */
};

struct node {
    enum node_kind kind;
    enum clue_relation relation;
    int left, right;
    int64_t value; /* of a number; of a name its index */
    int token;
    bool opaque, number, fraction; /* it contains "?", a number, a floating literal */
};

/* A pool of nodes: what is above a mark is released at once. */
struct tree {
    struct node node[TREE_MOST_NODES];
    int count;
    int limit; /* at most TREE_MOST_NODES */
    bool full; /* a node did not fit; it is "?" */
};

/* Empties the pool but for node 0, which is "?". */
void tree_clear(struct tree *tree);

/* All constructors return an index and fold constants. Of conditions that do not fit, the left side is kept.
 * */
int tree_leaf(struct tree *tree, enum node_kind kind, int64_t value, int token);
int tree_binary(struct tree *tree, enum node_kind kind, int left, int right, int token);
int tree_compare(struct tree *tree, enum clue_relation relation, int left, int right, int token);
/* The bitwise operators and shifts as arithmetic, where their right side is a constant: x & 63 is x % 64.
 * `sign` is '&', '|', '^', SIGN_SHIFT_LEFT or '>' for a right shift. */
int tree_bits(struct tree *tree, int sign, int left, int right, int token);
/* -x, !x or ~x, as `sign` says. */
int tree_unary(struct tree *tree, int sign, int operand, int token);

bool tree_is_boolean(const struct tree *tree, int at);
bool tree_is_number(const struct tree *tree, int at, int64_t *value);

/* Is the name a part of the expression? */
bool tree_mentions(const struct tree *tree, int at, int name);

/* Writes an expression in the grammar of constraints. False: it does not fit. */
bool tree_text(const struct tree *tree, const struct source *source, int at, char *text, size_t size);

#endif
