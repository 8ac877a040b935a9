/* Shared by what reads NAME.task and what draws from it. */
#ifndef UNSEEN_TASK_INTERNAL_H
#define UNSEEN_TASK_INTERNAL_H

#include <jansson.h>

#include "gen/contract/constraint.h"
#include "task.h"

enum { TASK_MAX_CLASSES = 16, TASK_TEXT = 1200, TASK_SIZES = 4 };

/* Extents of a tensor, each an expression of axes. */
struct task_shape {
    int rank;
    struct constraint *dim[PROBLEM_MAX_RANK];
};

/* How an input is drawn in a class; the first ones are fills of problems/fill.h as they are. */
enum task_drawn {
    TASK_FILL,        /* `fill` */
    TASK_DECISION,    /* FILL_DECISION; of indices, as far as the levels lie in their range */
    TASK_INDEX,       /* whole numbers from `low` below the input's bound */
    TASK_UNEVEN,      /* FILL_UNEVEN, of parts along a dimension that each content draws */
    TASK_SIMPLEX,     /* positive, a row adds up to about 1 */
    TASK_TRIU,        /* a matrix that is 0 below its diagonal, */
    TASK_TRIL,        /* above it, */
    TASK_SYMMETRIC,   /* or equal to its transposed */
    TASK_ASCENDING,   /* whole numbers like TASK_INDEX, rows of them sorted */
    TASK_DISTINCT,    /* whole numbers like TASK_INDEX, no two of which are alike along a dimension */
    TASK_PERMUTATION, /* rows of 0, 1, .. in any order */
    TASK_AFFINE,      /* a table that grows by steps */
    TASK_BAND,        /* a matrix that is `value` on some diagonals, 0 elsewhere */
    TASK_COMPUTED,    /* as the task's own get_inputs makes it */
};

/* What get_inputs computes of the sizes alone; expressions of axes, NULL where there is none. */
struct task_table {
    struct constraint *start, *step[PROBLEM_MAX_RANK]; /* TASK_AFFINE */
    struct constraint *low, *high;                     /* TASK_BAND: of last place - place before it */
    double value;
};

struct task_fill {
    enum task_drawn drawn;
    struct fill fill;
    struct task_table *table; /* TASK_AFFINE, TASK_BAND */
    int along;                /* TASK_DISTINCT: the dimension; -1: all elements */
};

typedef double task_form(double of);

/* factor * form(of); `of` is NULL where there is none. */
struct task_scalar {
    struct constraint *of;
    task_form *form;
    double factor;
};

/* coefficient * the product of axes to their powers; below `base` of an axis it falls from there with another one */
struct task_work {
    double coefficient;
    double power[PROBLEM_MAX_AXES], below[PROBLEM_MAX_AXES], base[PROBLEM_MAX_AXES];
};

struct imported {
    json_t *root; /* owns all names */
    char folder[TASK_TEXT], file[TASK_TEXT], source[TASK_TEXT];

    struct problem problem;
    struct problem_oracle oracle;
    struct axis axes[PROBLEM_MAX_AXES + 1];
    struct tensor tensors[PROBLEM_MAX_TENSORS + 1];
    struct argument arguments[PROBLEM_MAX_ARGUMENTS + 1];
    struct input_class classes[TASK_MAX_CLASSES + 1];
    int ring[PROBLEM_MAX_AXES];

    struct task_shape shape[PROBLEM_MAX_TENSORS];  /* but that of `weights` */
    struct constraint *bound[PROBLEM_MAX_TENSORS]; /* of an input with indices: the first number beyond */
    /* The least of these numbers: an expression of axes, or where that is NULL a number. */
    struct constraint *least[PROBLEM_MAX_TENSORS];
    int64_t low[PROBLEM_MAX_TENSORS];
    /* By forward's parameters: what is no tensor and follows axes, as whole numbers or as `scalar`. */
    struct constraint *number[PROBLEM_MAX_TENSORS];
    struct task_scalar scalar[PROBLEM_MAX_TENSORS];
    struct task_fill fill[TASK_MAX_CLASSES][PROBLEM_MAX_TENSORS];
    /* Extents of outputs that are more than an axis or a product of axes, as derived sizes: "out_dim2". */
    struct derived derived[TASK_SIZES + 1];
    const struct constraint *size[TASK_SIZES];
    char size_name[TASK_SIZES][64];
    int weights;               /* the tensor's number, or -1 */
    struct task_shape *weight; /* those that are drawn */
    int weight_count;
    struct task_work flops;
};

void imported_free(struct imported *task);

char *task_shape_text(const struct task_shape *shape); /* "[m, k]", for people; malloced */
task_form *task_scalar_form(const char *name);         /* NULL: there is none of that name */

/* Fills task->derived once its axes and tensors are read. */
void task_sizes_list(struct imported *task);

/* Fills `out` with `count` whole numbers from `low` on, without repetition along dimension `along` (-1: in all of it) as long as there
 * are enough of them; more elements repeat them. Returns 0, or -1: out of memory. */
int task_table_distinct(int along, int64_t low, int64_t count, struct random *random,
                        struct instance_tensor *out);

/* Fills `out` as `drawn` says, which is one of TASK_ASCENDING to TASK_BAND; indices are `count` ones from `low` on. Returns
 * 0, or -1: out of memory. */
int task_table_draw(const struct task_fill *drawn, int64_t low, int64_t count, const struct config *config,
                    struct random *random, struct instance_tensor *out);
void task_table_free(struct task_table *table);

/* Asks whoever makes inputs (imported_made_by) for those of `wanted`, malloced; 0, or -1. */
int imported_make(const struct problem *problem, const struct instance *instance,
                  const struct imported_wish *wish, int32_t **given);

/* The callbacks of struct problem and its classes. */
int imported_instantiate(const struct config *config, struct random *shape_random,
                         struct random *content_random, struct instance *out);
int imported_measure(const struct config *config, struct random *shape_random, struct instance *out);
int imported_draw(const struct config *config, struct random *content_random, struct instance *out);

#endif
