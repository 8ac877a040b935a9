/* The contract of a problem: which axis values are legal, read from a .space file. */
#ifndef UNSEEN_SPACE_H
#define UNSEEN_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "problems/problem.h"

enum { SPACE_MAX_VALUES = 32, SPACE_MAX_TILES = 16, SPACE_MAX_CONSTRAINTS = 32 };

/* A number axis has a range low..high, or a list of values (value_count > 0: ascending); a choice
 * axis has a list of the numbers of its choices, in the file's order. */
struct domain {
    int64_t low, high;
    int64_t value[SPACE_MAX_VALUES];
    int value_count;
    int64_t tile[SPACE_MAX_TILES]; /* extents that kernels are likely to assume */
    int tile_count;
};

struct constraint; /* a parsed expression such as rows*cols <= 2^31 */

/* |got - want| <= atol + rtol |want|, of the user's own. */
struct space_tolerance {
    bool given;
    double atol, rtol;
};

struct space {
    const struct problem *problem;
    struct domain domain[PROBLEM_MAX_AXES]; /* by axis index of the problem */
    struct constraint *constraint[SPACE_MAX_CONSTRAINTS];
    int constraint_count;
    struct space_tolerance tolerance;
};

/* Text of one error: "FILE:LINE: what was found; what was expected\n---> hint". */
struct space_error {
    char text[1024];  /* a configuration and a limit of any problem, and the hint */
    bool environment; /* memory, descriptors or the disk: nothing is wrong with the input */
    bool caps;        /* of draw_unseen: nothing was found within these, larger ones might do */
};

/* Fills *error (which may be NULL); always returns -1, so that callers can return it. */
__attribute__((format(printf, 2, 3))) int space_fail(struct space_error *error, const char *format, ...);

/* Read a contract. Every axis of the problem must appear exactly once. Returns 0, or -1 with *error
 * filled (unknown axis, value out of the problem's choices, a line that does not parse, an axis
 * missing or given twice, an empty range, unreadable file). */
int space_read(struct space *space, const struct problem *problem, const char *path,
               struct space_error *error);
void space_clear(struct space *space);

/* True when every value is in its domain and every constraint holds. Otherwise *error (may be NULL) says
 * which axis or constraint, what was found and what is legal. */
bool space_contains(const struct space *space, const struct config *config, struct space_error *error);
bool domain_contains(const struct domain *domain, int64_t value);
/* The least value; of an extent that may be 0 the least that leaves something to compute, 1. Empty tensors are drawn for
 * themselves (corners, and now and then at random): among other things that are tried they would hide those. */
int64_t domain_least(const struct domain *domain);
const char *constraint_text(const struct constraint *constraint); /* as written in the file */

/* --- configuration lines --- */

/* Parse "rows=3 cols=4099 input=needle seed=91". Number axes must be given; a choice axis that is
 * omitted takes the problem's first choice; seed defaults to 0. `where` ("FILE:LINE" or "configuration")
 * starts every error text. Only the syntax and the axis names/choices are checked here, the contract by
 * space_contains. Returns 0 or -1. */
int config_parse(struct config *config, const struct problem *problem, const char *line, const char *where,
                 struct space_error *error);

/* Every axis and the seed, in axis order: the line that reproduces it. Returns what snprintf would. */
int config_format(const struct config *config, char *text, size_t size);
bool config_equal(const struct config *a, const struct config *b);      /* all axes; seed too */
bool config_same_point(const struct config *a, const struct config *b); /* all axes; seed not */

struct config_list {
    struct config *item;
    int count, capacity;
};
int config_list_add(struct config_list *list, const struct config *config); /* 0, -1 no memory */
void config_list_clear(struct config_list *list);
bool config_list_has(const struct config_list *list, int axis, int64_t value); /* in any of them */

/* Read a .seen or .regress file (comments and blank lines skipped), checking every line against the
 * space. A missing file is an error unless `optional`. Returns 0 or -1 with file:line in *error. */
int config_list_read(struct config_list *list, const struct space *space, const char *path, bool optional,
                     struct space_error *error);
/* The same of a set that is given in the place of a drawn one: no point of `apart`, no line twice, and at least one. */
int config_list_read_apart(struct config_list *list, const struct space *space,
                           const struct config_list *apart, const char *path, struct space_error *error);

#endif
