/* Calls a function whose parameters are known only at run time: tensors, arguments by value, the stream.
 * libffi implements the platform's calling convention for floats and bools. */
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
/* Adds the next parameter. */
void invoke_pointer(struct invocation *invocation, void *pointer);
void invoke_argument(struct invocation *invocation, const struct channel_argument *argument);
/* Call it after the last parameter; false: this platform cannot make the call. */
bool invoke_ready(struct invocation *invocation);
/* Calls the function and returns its result; may be repeated. */
int invoke_call(struct invocation *invocation);

#endif
