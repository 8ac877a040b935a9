#include "invoke.h"

void invoke_begin(struct invocation *invocation, void (*function)(void))
{
    invocation->function = function;
    invocation->count = 0;
}

void invoke_pointer(struct invocation *invocation, void *pointer)
{
    invocation->type[invocation->count] = &ffi_type_pointer;
    invocation->word[invocation->count++].pointer = pointer;
}

void invoke_argument(struct invocation *invocation, const struct channel_argument *argument)
{
    const unsigned at = invocation->count++;
    switch ((enum argument_type)argument->type) {
    case ARGUMENT_I64:
        invocation->type[at] = &ffi_type_sint64;
        invocation->word[at].i64 = argument->value.whole;
        break;
    case ARGUMENT_I32:
        invocation->type[at] = &ffi_type_sint32;
        invocation->word[at].i32 = (int32_t)argument->value.whole;
        break;
    case ARGUMENT_BOOL:
        invocation->type[at] = &ffi_type_uint8;
        invocation->word[at].flag = argument->value.whole != 0;
        break;
    case ARGUMENT_F32:
        invocation->type[at] = &ffi_type_float;
        invocation->word[at].f32 = (float)argument->value.real;
        break;
    case ARGUMENT_F64:
        invocation->type[at] = &ffi_type_double;
        invocation->word[at].f64 = argument->value.real;
        break;
    default: invocation->type[at] = NULL; /* reported by invoke_ready */
    }
}

bool invoke_ready(struct invocation *invocation)
{
    for (unsigned i = 0; i < invocation->count; i++) {
        if (!invocation->type[i])
            return false;
        invocation->value[i] = &invocation->word[i];
    }
    return ffi_prep_cif(&invocation->interface, FFI_DEFAULT_ABI, invocation->count, &ffi_type_sint,
                        invocation->type) == FFI_OK;
}

int invoke_call(struct invocation *invocation)
{
    ffi_arg returned = 0; /* libffi widens values shorter than a register */
    ffi_call(&invocation->interface, invocation->function, &returned, invocation->value);
    return (int)returned;
}
