/* The contract of a problem: the legal axis values, read from a .space file. */
#ifndef UNSEEN_SPACE_H
#define UNSEEN_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "problems/problem.h"

enum { SPACE_MAX_VALUES = 32, SPACE_MAX_TILES = 16, SPACE_MAX_CONSTRAINTS = 32 };

/* The legal values of an axis. A numeric axis has a range low..high, or a list of values (value_count > 0,
 * ascending). A choice axis has a list of choice indices in the file's order. */
struct domain {
    int64_t low, high;
    int64_t value[SPACE_MAX_VALUES];
    int value_count;
    int64_t tile[SPACE_MAX_TILES]; /* tile extents that kernels are likely to use */
    int tile_count;
};

struct constraint; /* a parsed expression such as rows*cols <= 2^31 */

/* The user's own tolerances: |got - want| <= atol + rtol |want|. */
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

/* The text of one error: "FILE:LINE: what was found; what was expected\n---> hint". */
struct space_error {
    char text[1024];  /* large enough for a configuration, a limit of any problem, and the hint */
    bool environment; /* memory, descriptors or the disk: the input is not at fault */
    bool caps;        /* draw_unseen found nothing within the caps; larger caps might help */
};

/* Fills *error (may be NULL). Always returns -1, so that callers can return it. */
__attribute__((format(printf, 2, 3))) int space_fail(struct space_error *error, const char *format, ...);

/* Reads a contract. Every axis of the problem must appear exactly once. Returns 0, or -1 with *error filled:
 * unknown axis, value that is no choice, unparsable line, missing or repeated axis, empty range, unreadable
 * file. */
int space_read(struct space *space, const struct problem *problem, const char *path,
               struct space_error *error);
void space_clear(struct space *space);

/* True if every value is in its domain and every constraint holds. Otherwise *error (may be NULL) names the
 * axis or constraint, what was found and what is legal. */
bool space_contains(const struct space *space, const struct config *config, struct space_error *error);
bool domain_contains(const struct domain *domain, int64_t value);
/* The least value that leaves something to compute: at least 1, even for an extent that may be 0. Empty
 * tensors are drawn deliberately (corners, and sometimes at random); combined with other special values they
 * would hide these. */
int64_t domain_least(const struct domain *domain);
const char *constraint_text(const struct constraint *constraint); /* as written in the file */

/* --- configuration lines --- */

/* Parses "rows=3 cols=4099 input=needle seed=91". Numeric axes must be given; an omitted choice axis takes
 * the problem's first choice; the seed defaults to 0. `where` ("FILE:LINE" or "configuration") begins every
 * error text. It checks only the syntax, axis names and choices; space_contains checks the contract. Returns
 * 0 or -1. */
int config_parse(struct config *config, const struct problem *problem, const char *line, const char *where,
                 struct space_error *error);

/* Writes every axis in order and the seed: the line that reproduces the configuration. Returns what snprintf
 * would. */
int config_format(const struct config *config, char *text, size_t size);
bool config_equal(const struct config *a, const struct config *b);      /* compares all axes and the seed */
bool config_same_point(const struct config *a, const struct config *b); /* compares all axes, not the seed */

/* The comment of a line may hold what its set knows of it: `# workload=NAME calls=37`. */
struct config_note {
    char workload[64]; /* empty: none */
    int64_t calls;     /* how often a captured program made this call; 0: not known */
};

struct config_list {
    struct config *item;
    struct config_note *note; /* of each item */
    int count, capacity;
};
/* Returns 0, or -1 when out of memory. Nothing is noted. */
int config_list_add(struct config_list *list, const struct config *config);
void config_list_clear(struct config_list *list);
/* does any item have this value? */
bool config_list_has(const struct config_list *list, int axis, int64_t value);

/* Reads a .seen or .regress file, and checks every line against the contract; comments and blank lines are
 * skipped. A missing file is an error unless `optional`. Returns 0, or -1 with FILE:LINE in *error. */
int config_list_read(struct config_list *list, const struct space *space, const char *path, bool optional,
                     struct space_error *error);
/* Reads a set that replaces the drawn unseen set. It must have at least one line, no line twice, and no point
 * of `apart`. */
int config_list_read_apart(struct config_list *list, const struct space *space,
                           const struct config_list *apart, const char *path, struct space_error *error);

#endif
