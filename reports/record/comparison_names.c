/* Names of the enums of a comparison. */
#include <stdarg.h>
#include <string.h>

#include "comparison.h"

const char *change_name(enum change change)
{
    static const char *const name[] = {"undecided", "same", "faster", "slower"};

    return name[change];
}

const char *correctness_name(enum correctness correctness)
{
    static const char *const name[] = {"kept", "gained", "lost", "unknown"};

    return name[correctness];
}

const char *gate_name(enum gate gate)
{
    static const char *const name[] = {"passed", "regression", "inconclusive"};

    return name[gate];
}

void comparison_note(struct comparison *comparison, const char *format, ...)
{
    const size_t used = strlen(comparison->notes), room = sizeof comparison->notes - used;
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(comparison->notes + used, room, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length + 1 >= room)
        comparison->notes[used] = '\0';
    else
        memcpy(comparison->notes + used + length, "\n", 2);
}
