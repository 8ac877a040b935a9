/* Calling a function whose parameters are known only when it is called: tensors, arguments by value, the stream.
 * Where a float or a bool goes is the business of the platform's calling convention, which libffi knows. */
#ifndef UNSEEN_INVOKE_H
#define UNSEEN_INVOKE_H

#include <ffi.h>
#include <stdbool.h>

#include "channel.h"

enum { INVOKE_PARAMETERS = CHANNEL_TENSORS + CHANNEL_ARGUMENTS + 1 };

/* Must not be moved between invoke_ready and invoke_call. */
struct invocation {
    void (*function)(void); /* returns int */
    unsigned count;
    ffi_type *type[INVOKE_PARAMETERS];
    union {
        void *pointer;
        int64_t i64;
        int32_t i32;
        bool flag;
        float f32;
        double f64;
    } word[INVOKE_PARAMETERS];
    void *value[INVOKE_PARAMETERS];
    ffi_cif interface;
};

void invoke_begin(struct invocation *invocation, void (*function)(void));
/* The next parameter. */
void invoke_pointer(struct invocation *invocation, void *pointer);
void invoke_argument(struct invocation *invocation, const struct channel_argument *argument);
/* After the last one; false: not a call that this platform can make. */
bool invoke_ready(struct invocation *invocation);
/* What the function returns; as often as wanted. */
int invoke_call(struct invocation *invocation);

#endif
