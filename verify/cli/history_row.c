#include "history_row.h"

#include <time.h>

#include "options.h"

int history_row_begin(struct history_row *keeping, const char *db, const struct result *result)
{
    const struct history history = {.path = db};
    char error[1024];
    *keeping = (struct history_row){.db = db};
    if (!db)
        return 0;
    const enum history_status status =
        history_begin(&history, result, (int64_t)time(NULL), keeping->token, error, sizeof error);
    if (status == HISTORY_OK)
        return 0;
    options_error("--db %s", error);
    return status == HISTORY_INPUT ? EXIT_USAGE : EXIT_ENVIRONMENT;
}

void history_row_finish(struct history_row *keeping, const struct result *result)
{
    const struct history history = {.path = keeping->db};
    char error[sizeof keeping->error];
    if (keeping->db && history_finish(&history, keeping->token, result, (int64_t)time(NULL), error,
                                      sizeof error) != HISTORY_OK)
        snprintf(keeping->error, sizeof keeping->error, "%s", error);
}
