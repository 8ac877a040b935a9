/* The aims of a candidate's clues: each condition of the code holds, and its boundaries are met. */
#ifndef UNSEEN_CLUE_AIMS_H
#define UNSEEN_CLUE_AIMS_H

#include "aim.h"

enum clue_aim_kind {
    AIM_KNOWN,
    AIM_JOINED,   /* two aims at once */
    AIM_GUESSED,  /* some name of the code stands for no axis, and its meaning is a guess */
    AIM_INCLUDED, /* the same in a file that the candidate includes */
    AIM_KINDS
};

struct clue_aim {
    struct clue clue; /* with the names of the contract */
    struct aim aim;
    int rank, number; /* aims of a lower rank are drawn first, then those with a lower number */
    enum clue_aim_kind kind;
    int wanted; /* configurations of the set on which it shall hold */
    int least;  /* configurations drawn for it, even if others meet it */
    int held;   /* configurations of the set on which it holds so far */
    int drawn;  /* those drawn for it */
    int vain;   /* attempts without a result */
};

enum { CLUE_MOST_AIMS = 1024 };

struct clue_aims {
    struct clue_aim *item;
    int count;
};

/* Lists the aims, by rank. A name of the code that stands for no axis becomes several axes in turn, chosen
 * from the stream. Returns 0, or -1 when memory is out. */
int clue_aims_open(struct clue_aims *aims, const struct clue_list *clues, const struct space *space,
                   struct pcg *stream);
void clue_aims_close(struct clue_aims *aims);

#endif
