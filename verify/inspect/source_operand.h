/* Operands: numbers, names, calls, parentheses. */
#ifndef UNSEEN_SOURCE_OPERAND_H
#define UNSEEN_SOURCE_OPERAND_H

struct reader;

/* As expression_read (source_reader.h), of a single operand without signs before it. */
int operand_read(struct reader *reader, int *at, int end);

#endif
