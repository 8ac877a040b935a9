#include "status.h"

#include <stdarg.h>
#include <stdio.h>

#include "verify/torch/task.h"

bool status_break(struct status *status, enum session_status code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (status->code == SESSION_OK) { /* only the first reason is kept */
        vsnprintf(status->error, sizeof status->error, format, arguments);
        status->code = code;
    }
    va_end(arguments);
    return false;
}

bool status_failed(struct status *status, const char *what, int error)
{
    bool here;
    const char *const trouble = status->imported ? imported_trouble(&here) : "";
    if (*trouble)
        return status_break(status, here ? SESSION_SHORT : SESSION_BROKEN, "%.1000s", trouble);
    if (error < 0 || status->memory->is_shortage(error))
        return status_break(status, SESSION_SHORT, "memory ran out: %s", what);
    return status_break(status, SESSION_BROKEN, "%s failed: %s", what, status->memory->explain(error));
}

enum session_status status_end(struct status *status)
{
    const enum session_status code = status->code;
    if (code == SESSION_SHORT)
        status->code = SESSION_OK;
    return code;
}
