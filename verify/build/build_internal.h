/* Compiler command lines for candidates; used by build.c. */
#ifndef UNSEEN_BUILD_INTERNAL_H
#define UNSEEN_BUILD_INTERNAL_H

#include "compiler.h"

/* Uses cc for a .c file, g++ for C++, and nvcc for a .cu file, with the libraries of its link line. */
enum build_status command_make(struct compiler_command *command, const struct build *build,
                               const struct build_options *options, char *error, size_t error_size);

#endif
