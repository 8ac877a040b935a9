/* The machine code of an instrumented object, as far as its branches need it, with the lines of its text. */
#ifndef UNSEEN_DISASSEMBLY_H
#define UNSEEN_DISASSEMBLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "verify/build/build.h"

enum instruction_kind {
    INSTRUCTION_OTHER,
    INSTRUCTION_BLOCK,          /* calls of tracing functions: at the start of a basic block, */
    INSTRUCTION_COMPARE,        /* before a comparison of integers, */
    INSTRUCTION_COMPARE_NUMBER, /* with a number of the text, */
    INSTRUCTION_COMPARE_REALS,  /* of floating-point numbers, */
    INSTRUCTION_SWITCH,         /* and before a switch */
    INSTRUCTION_CALL,           /* any other call */
    INSTRUCTION_JUMP,
    INSTRUCTION_JUMP_IF,
    INSTRUCTION_RETURN
};

struct instruction {
    uint32_t at;
    uint32_t target; /* of a jump; 0: unknown */
    uint32_t data;   /* an address in the object that it names; 0: none */
    int line;        /* 0: unknown */
    short file;      /* index into the files; -1: unknown */
    unsigned char kind;
    char relation[3]; /* of a conditional jump on x86-64: how the operands compare if it jumps; else "" */
};

enum { DISASSEMBLY_FILES = 256, DISASSEMBLY_PATH = 512 };

struct disassembly {
    struct instruction *item; /* by address */
    int count, capacity;
    char (*file)[DISASSEMBLY_PATH]; /* absolute paths, or as the compiler was given them */
    int files;
};

/* Reads the object by objdump (binutils), which runs in the sandbox. On any result but BUILD_OK `why` has a
 * phrase. */
enum build_status disassembly_open(struct disassembly *disassembly, const struct build *build, char *why,
                                   size_t why_size);
void disassembly_close(struct disassembly *disassembly);

/* Returns the index of the instruction at an address, or -1. */
int disassembly_find(const struct disassembly *disassembly, uint32_t address);

#endif
