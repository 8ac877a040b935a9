/* The options of all commands, one row each: the parser, --help and completion follow from it. */
#ifndef UNSEEN_OPTION_TABLE_H
#define UNSEEN_OPTION_TABLE_H

#include <stddef.h>

#include "options.h"

/* How a value is read, and the type of its field in struct options. */
enum option_type {
    OPTION_TRUE,    /* no value: the bool becomes true */
    OPTION_FALSE,   /* no value: the bool becomes false */
    OPTION_TEXT,    /* const char *, as it stands */
    OPTION_COUNT,   /* int from `least` to `most` */
    OPTION_NUMBER,  /* uint64_t from `least` to `most` */
    OPTION_SECONDS, /* double, above 0 and at most a day */
    OPTION_SIZE,    /* double, bytes; at least `least` MiB */
    OPTION_CHOICE,  /* enum or bool: the place of the word in `choices` */
    OPTION_LIST     /* struct text_list: may be repeated */
};

struct option_row {
    const char *name;     /* without dashes; NULL ends the table */
    const char *argument; /* what --help calls its value; NULL: it has none */
    enum option_type type;
    size_t field, size;         /* of struct options */
    size_t given;               /* a bool that becomes true where the option stands; 0: none */
    size_t cleared;             /* a bool that becomes false where the option stands; 0: none */
    const char *commands;       /* names of commands, each between blanks */
    const char *help;           /* one line of --help */
    uint64_t least, most;       /* of numbers */
    const char *example;        /* a good value, or the advice for a wrong choice */
    const char *const *choices; /* NULL ends them */
    char letter;                /* a one-letter form; 0: none */
    const char *old;            /* its former name, which --help does not list; NULL: none */
};

enum { OPTION_ROWS_MOST = 96 };

/* The row `i` of the table, reports included; NULL: there are no more. */
const struct option_row *option_row(int i);

/* Does the command take it? */
bool option_applies(const struct option_row *row, const struct command *command);

/* Reads `text` into the row's field. A wrong value ends the process with status 2. */
void option_take(const struct option_row *row, const struct command *command, const char *text,
                 struct options *options);

#endif
