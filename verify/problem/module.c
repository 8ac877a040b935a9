#include "module.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cache.h"
#include "module_internal.h"
#include "verify/build/compiler.h"
#include "verify/build/scratch.h"

enum { KEY_BYTES = 8000, HINT_BYTES = 350 };

/* Names the cache entry by the folder, whatever its contents. */
static void name_entry(const struct making *making, char *name, size_t size)
{
    struct sha256_ctx hash;
    uint64_t digest;
    sha256_init(&hash);
    sha256_update(&hash, strlen(making->source->folder), (const uint8_t *)making->source->folder);
    sha256_digest(&hash, sizeof digest, (uint8_t *)&digest);
    snprintf(name, size, "%s-%s%s-%016" PRIx64 ".so", making->source->name, making->arch ? "sm_" : "host",
             making->arch ? making->arch : "", digest);
}

/* By a new link: the loader takes a path that it knows for the object that it loaded from there before, but
 * recognizes an unchanged file by its inode. */
static bool load(struct module *module, const char *path)
{
    char link[600];
    snprintf(module->object, sizeof module->object, "%s", path);
    snprintf(link, sizeof link, "%s/loaded.so", module->scratch);
    unlink(link);
    module->handle = symlink(path, link) == 0 ? dlopen(link, RTLD_NOW | RTLD_LOCAL) : NULL;
    return module->handle != NULL;
}

void module_explain_unnamed(const struct module_source *source, char *error, size_t error_size)
{
    snprintf(error, error_size,
             "%s/problem.c exports no problem_%s; `const struct problem problem_%s` was expected, after the "
             "folder's "
             "name\n---> rename the table, or the folder",
             source->folder, source->name, source->name);
}

/* An undefined symbol that nobody provides is the author's error; any other refusal is the machine's. */
static enum build_status cannot_load(const struct making *making, char *error, size_t error_size)
{
    static const char missing[] = "undefined symbol: ";
    const char *const why = dlerror(), *const symbol = why ? strstr(why, missing) : NULL;
    char table[MODULE_NAME + 16];
    snprintf(table, sizeof table, "problem_%s", making->source->name);
    if (symbol && strcmp(symbol + sizeof missing - 1, table) == 0) {
        module_explain_unnamed(making->source, error, error_size);
        return BUILD_INPUT;
    }
    if (symbol) {
        snprintf(error, error_size,
                 "%s uses '%s', which neither it nor the tool defines\n---> define it in problem.c, or "
                 "correct its "
                 "name",
                 making->source->folder, symbol + sizeof missing - 1);
        return BUILD_INPUT;
    }
    snprintf(
        error, error_size,
        "the compiled problem %s cannot be loaded: %s\n---> set TMPDIR to a directory whose files may be "
        "executed",
        making->source->name, why ? why : "no reason is given");
    return BUILD_ENVIRONMENT;
}

static enum build_status make(struct making *making, char *error, size_t error_size)
{
    char kept[600];
    const enum build_status status = making_run(making, error, error_size - HINT_BYTES);
    if (status == BUILD_FAILED && strstr(error, "mpfr.h: No such file")) {
        snprintf(error, error_size,
                 "found no mpfr.h; a problem's witness is compiled with it\n---> install libmpfr-dev");
        return BUILD_ENVIRONMENT;
    }
    if (status == BUILD_FAILED)
        compiler_keep_log(making->log, kept, sizeof kept, error, error_size);
    return status;
}

/* Compiles the object, stores it in the cache, and loads it from there, or else from where it was
 * compiled. */
static enum build_status make_and_load(struct module *module, struct making *making, struct cache_slot *slot,
                                       const char *key, char *error, size_t error_size)
{
    struct timespec began;
    char made[600];
    clock_gettime(CLOCK_REALTIME, &began);
    const enum build_status status = make(making, error, error_size);
    if (status != BUILD_OK)
        return status;
    snprintf(made, sizeof made, "%s/module.so", making->directory);
    const bool kept = cache_keep(slot, made, key, making->sources, &began);
    if (slot->why[0])
        snprintf(module->note, sizeof module->note,
                 "the compiled problem %s is not kept for the next run (%s)\n---> set XDG_CACHE_HOME to a "
                 "directory "
                 "that can be written",
                 making->source->name, slot->why);
    if ((kept && load(module, slot->path)) || load(module, made))
        return BUILD_OK;
    return cannot_load(making, error, error_size);
}

static enum build_status load_or_make(struct module *module, struct making *making, char *error,
                                      size_t error_size)
{
    char name[2 * MODULE_NAME], key[KEY_BYTES];
    struct cache_slot slot;
    enum build_status status = making_prepare(making, error, error_size);
    if (status == BUILD_OK)
        status = making_key(making, key, sizeof key, error, error_size);
    if (status != BUILD_OK)
        return status;
    name_entry(making, name, sizeof name);
    cache_open(&slot, name);
    if (!cache_holds(&slot, key) || !load(module, slot.path))
        status = make_and_load(module, making, &slot, key, error, error_size);
    cache_close(&slot);
    making_clear(making);
    return status;
}

static enum build_status get(struct module *module, const struct module_source *source, const char *arch,
                             char *error, size_t error_size)
{
    struct making making = {.source = source, .arch = arch};
    *module = (struct module){.handle = NULL};
    enum build_status status = scratch_open(making.directory, sizeof making.directory, error, error_size);
    if (status != BUILD_OK)
        return status;
    snprintf(module->scratch, sizeof module->scratch, "%s", making.directory);
    status = load_or_make(module, &making, error, error_size);
    if (status != BUILD_OK)
        module_release(module);
    return status;
}

enum build_status module_host(struct module *module, const struct module_source *source, char *error,
                              size_t error_size)
{
    return get(module, source, NULL, error, error_size);
}

enum build_status module_cuda(struct module *module, const struct module_source *source, const char *arch,
                              char *error, size_t error_size)
{
    return get(module, source, arch, error, error_size);
}

void module_release(struct module *module)
{
    if (*module->scratch)
        scratch_remove(module->scratch);
    *module->scratch = '\0';
}
