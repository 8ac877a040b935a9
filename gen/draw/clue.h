/* Clues: comparisons and sizes in a candidate's code. They suggest configurations that its branches tell
 * apart. */
#ifndef UNSEEN_CLUE_H
#define UNSEEN_CLUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CLUE_MOST_TERMS = 6, CLUE_TEXT_SIZE = 96, CLUE_FILE_SIZE = 64, CLUE_MOST = 4096 };

enum clue_relation {
    CLUE_LESS,
    CLUE_LESS_EQUAL,
    CLUE_EQUAL,
    CLUE_NOT_EQUAL,
    CLUE_GREATER_EQUAL,
    CLUE_GREATER,
    CLUE_TILE /* no comparison: the code divides by `bound`, or steps, tiles or launches by it */
};

/* One comparison. Both sides are expressions in the grammar of constraints (gen/contract/constraint.h):
 * numbers, names, + - * / % and parentheses. A name is an identifier of the code, of a member only its last
 * part: "v->oh" is "oh". "?" stands for anything else, as in "? % 64". */
struct clue_term {
    char subject[CLUE_TEXT_SIZE];
    enum clue_relation relation;
    char bound[CLUE_TEXT_SIZE];
};

/* One condition of the code: its terms hold together (joined by &&). */
struct clue {
    struct clue_term term[CLUE_MOST_TERMS];
    int terms;
    int line;                  /* in the file, from 1; 0: unknown */
    char file[CLUE_FILE_SIZE]; /* base name; empty: the candidate's own file */
};

struct clue_list {
    struct clue *item;
    int count, capacity;
    bool truncated; /* more than CLUE_MOST clues; the rest is left out */
    int *slot;      /* hash table of the items: index + 1, or 0 */
};

bool clue_same(const struct clue *a, const struct clue *b); /* equal terms; line and file do not count */

/* Appends the clue unless an equal one is in the list (line and file aside). Returns 0, or -1 when memory is
 * out. */
int clue_list_add(struct clue_list *list, const struct clue *clue);
void clue_list_clear(struct clue_list *list);
const char *clue_relation_text(enum clue_relation relation); /* "<", "<=", "==", "!=", ">=", ">", "tile" */

/* Writes the condition: "k % 64 == 32 and m == 1". Returns what snprintf would. */
int clue_format(const struct clue *clue, char *text, size_t size);

#endif
