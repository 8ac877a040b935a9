/* Two contents of one shape, mixed: the values of one at some elements, of the other at all others.
 *
 * What couples tensors (tables, lengths, offsets, what is gathered from another tensor, which storage is in use) is the
 * first one's throughout: only what is drawn element by element is mixed, so that every mixture is an input that the
 * contract permits. A mixture is made in host memory, with the bits that a GPU draws, too. */
#ifndef UNSEEN_MIXTURE_H
#define UNSEEN_MIXTURE_H

#include "problems/problem.h"

/* Elements low[d] <= i[d] < high[d] of a tensor, in its own dimensions. */
struct box {
    int tensor;
    int64_t low[PROBLEM_MAX_RANK], high[PROBLEM_MAX_RANK];
};
int64_t box_count(const struct instance *instance, const struct box *box);
struct box box_of_element(const struct instance *instance, int tensor, int64_t element);
bool box_has(const struct instance *instance, const struct box *box, int64_t element); /* by flat index */

/* An element that becomes a number, whatever the contents hold; rounded to its type. */
struct set_element {
    int tensor;
    int64_t element;
    double value;
};

/* Values of a tensor below `low` that become `low`, and above `high`; rounded to its type. NaN stays. */
struct clip {
    int tensor;
    double low, high;
};

struct mixture {
    struct config own_config, other_config;
    int own_content, other_content; /* numbers of theirs; a check runs 0 and 1 */
    struct instance own, other;
    void *own_values[PROBLEM_MAX_TENSORS], *other_values[PROBLEM_MAX_TENSORS]; /* NULL: not mixed */
};

/* 0; -1 where memory is out, or the two have not the same shapes. To be closed in any case. */
int mixture_open(struct mixture *mixture, const struct config *own, int own_content,
                 const struct config *other, int other_content);
void mixture_close(struct mixture *mixture);

/* Elements of both contents together that can be mixed. */
int64_t mixture_elements(const struct mixture *mixture);
/* All of tensor t, which is mixed. */
struct box mixture_whole(const struct mixture *mixture, int t);
/* Can the element be mixed, and does it differ? */
bool mixture_differs(const struct mixture *mixture, int t, int64_t element);
/* Does any element of the box? */
bool mixture_box_differs(const struct mixture *mixture, const struct box *box);
/* Does a content hold a value there? No for storage that one of them does not use. */
bool mixture_is_used(const struct mixture *mixture, int t, int64_t element);
bool mixture_is_whole(enum dtype dtype); /* integers and bools */
double mixture_value(const struct mixture *mixture, bool own, int t, int64_t element);
/* Is another tensor than those that are mixed not the same in both? */
bool mixture_is_structured(const struct mixture *mixture);
/* May a drawn tensor differ that is not mixed? Its name, or NULL; *t: from which number on, and the one found. */
const char *mixture_next_structure(const struct mixture *mixture, int *t);

/* One mixture. */
struct mix {
    const struct mixture *of;
    const struct box *keep; /* where the values are the first one's */
    int keeps;
    const struct set_element *set;
    int sets;
    const struct clip *clip; /* after all else; NULL: none */
};
/* Into a tensor's memory, which holds its values of the first content. */
void mix_make(const struct mix *mix, int t, void *memory);
/* What may be promised of it: what both promise, where every element is drawn by itself; else nothing. */
enum data_kind mix_data(const struct mix *mix);

/* "seed=7 clip=x:-1:inf keep=x[0,4] keep=x[2,8..15]": a mixture beside the line of its first configuration. False: the text is too
 * short. */
bool mix_format(const struct mix *mix, char *text, size_t size);
/* The second content alone: "input=normal seed=7", "seed=7 content=2"; choices that are those of the first are left out. */
size_t mix_format_other(const struct mixture *mixture, char *text, size_t size);
/* Boxes alone: "x[0,4], x[2,8..15]". */
bool boxes_format(const struct mixture *mixture, const struct box *box, int count, char *text, size_t size);

/* Where what such a text says is kept. */
enum { MIXED_BOXES = 64 };
struct mixed {
    struct mixture mixture;
    struct box keep[MIXED_BOXES];
    struct clip clip;
    struct mix mix; /* of the above */
};
/* Reads it; mixed->mixture is to be closed in any case. -1: `why` says what was found, and what was expected. */
int mix_parse(const struct config *own, const char *text, struct mixed *mixed, char *why, size_t why_size);

#endif
