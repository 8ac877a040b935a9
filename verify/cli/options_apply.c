#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "options_internal.h"
#include "verify/build/object_store.h"
#include "verify/sandbox/forbid.h"
#include "verify/sandbox/sandbox.h"
#include "verify/problem/paths.h"
#include "verify/util/budget.h"
#include "verify/util/defence.h"
#include "verify/worker/child.h"
#include "verify/torch/importing.h"

/* Kernels of the tool's own include headers of its problems. */
static void show_own_headers(void)
{
    char root[PATH_MAX];
    if (paths_find(root, sizeof root, "problems") == 0)
        sandbox_add_source(root);
}

static void add_source(const struct command *command, const char *folder)
{
    if (!sandbox_add_source(folder))
        options_usage(command,
                      "--include-dir '%s'; expected a folder, %d of them at most\n---> check the path",
                      folder, SANDBOX_SOURCES - 1);
}

static void forbid(const struct command *command, const char *list)
{
    char error[512];
    if (forbid_add(list, error, sizeof error) != 0)
        options_usage(command, "%s", error);
}

static void disable_defences(const struct command *command, const char *list)
{
    const char *const wrong = defence_remove(list);
    if (!wrong)
        return;
    char names[DEFENCE_TEXT + DEFENCE_COUNT] = "";
    for (int i = 0; i < DEFENCE_COUNT; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? ", " : "",
                 defence_name((enum defence)i));
    options_usage(
        command,
        "--disable-defence '%.*s'; expected some of %s\n---> for example --disable-defence fresh,moved",
        (int)strcspn(wrong, ","), wrong, names);
}

static void each(const struct command *command, const struct text_list *list,
                 void (*apply)(const struct command *command, const char *text))
{
    for (int i = 0; i < list->count; i++)
        apply(command, list->item[i]);
}

/* Undoes what an earlier command of this process has set or found out. */
static void forget_settings(void)
{
    sandbox_clear_sources();
    sandbox_probe_again();
    child_settle_again();
    forbid_clear();
    defence_restore();
}

void options_apply(const struct command *command, const struct options *options)
{
    forget_settings();
    show_own_headers();
    each(command, &options->sources, add_source);
    each(command, &options->forbid, forbid);
    each(command, &options->without, disable_defences);
    object_store_enable(!options->no_cache);
    sandbox_require(options->require_sandbox);
    budget_begin(options->budget);
    importing_offer(options->python, options->compile_timeout);
}
