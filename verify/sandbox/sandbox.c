#include "sandbox.h"

#include <ctype.h>
#include <glob.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "verify/device/cuda_visible.h"

/* Words reserved after argv[count]: an interpreter and its options, a program and its words, the end. */
enum { BEHIND = 12 };

static void add(struct sandbox *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct sandbox *s, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const size_t room = sizeof s->text - s->used;
    const int length = vsnprintf(s->text + s->used, room, format, arguments);
    va_end(arguments);
    if (s->count >= SANDBOX_ARGUMENTS - BEHIND || length < 0 || (size_t)length >= room) {
        s->count = SANDBOX_ARGUMENTS; /* sandbox_end reports it */
        return;
    }
    s->argv[s->count++] = s->text + s->used;
    s->used += (size_t)length + 1;
}

static void add_words(struct sandbox *s, const char *const *words)
{
    for (; *words; words++)
        add(s, "%s", *words);
}

static void bind(struct sandbox *s, const char *how, const char *path)
{
    add(s, "%s", how);
    add(s, "%s", path);
    add(s, "%s", path);
}

/* --- the system --- */

/* Shows a folder of the root or, on systems with a merged /usr, the symbolic link. */
static void show_root(struct sandbox *s, const char *path)
{
    char target[PATH_MAX];
    struct stat status;
    if (lstat(path, &status))
        return;
    if (!S_ISLNK(status.st_mode)) {
        bind(s, "--ro-bind", path);
        return;
    }
    const ssize_t length = readlink(path, target, sizeof target - 1);
    if (length <= 0)
        return;
    target[length] = '\0';
    add(s, "--symlink");
    add(s, "%s", target);
    add(s, "%s", path);
}

static const char *const system_folders[] = {"/usr",   "/bin",    "/sbin",      "/lib",       "/lib32",
                                             "/lib64", "/libx32", "/nix/store", "/gnu/store", NULL};

static bool lies_in(const char *path, const char *folder)
{
    const size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

static bool is_of_the_system(const char *path)
{
    for (int i = 0; system_folders[i]; i++)
        if (lies_in(path, system_folders[i]))
            return true;
    return false;
}

static void show_system(struct sandbox *s)
{
    static const char *const files[] = {"/etc/ld.so.cache",  "/etc/ld.so.conf", "/etc/ld.so.conf.d",
                                        "/etc/alternatives", "/etc/localtime",  NULL};
    for (int i = 0; system_folders[i]; i++)
        show_root(s, system_folders[i]);
    for (int i = 0; files[i]; i++)
        if (access(files[i], R_OK) == 0)
            bind(s, "--ro-bind", files[i]);
}

/* LD_LIBRARY_PATH names folders whose libraries programs may need. */
static void show_library_path(struct sandbox *s)
{
    const char *const value = getenv("LD_LIBRARY_PATH");
    char *const list = value ? strdup(value) : NULL;
    for (char *rest = list, *folder; list && (folder = strsep(&rest, ":"));)
        if (*folder == '/' && !is_of_the_system(folder) && access(folder, X_OK) == 0)
            bind(s, "--ro-bind", folder);
    free(list);
}

/* --- devices --- */

/* /dev/nvidiaN is a GPU; other names, such as /dev/nvidiactl and /dev/nvidia-uvm, belong to the driver. */
static bool is_another_gpu(const char *path)
{
    const char *const number = path + strlen("/dev/nvidia");
    return cuda_visible_node() >= 0 && isdigit((unsigned char)*number) && atoi(number) != cuda_visible_node();
}

static void show_gpu(struct sandbox *s)
{
    glob_t found;
    if (glob("/dev/nvidia*", 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++)
            if (!is_another_gpu(found.gl_pathv[i]))
                bind(s, "--dev-bind", found.gl_pathv[i]);
    globfree(&found);
    bind(s, "--ro-bind-try", "/sys");
}

/* Writable folders in memory, with a size limit. */
static void add_private_folders(struct sandbox *s)
{
    static const char *const words[] = {"--proc", "/proc",    "--size",  "67108864", "--tmpfs", "/tmp",
                                        "--size", "67108864", "--tmpfs", "/dev/shm", NULL};
    add_words(s, words);
}

/* Without --new-session: the process leads its own session anyway, and staying in bubblewrap's process group
 * lets one kill reach all. Killing bubblewrap ends the process namespace in any case. */
void sandbox_begin(struct sandbox *s, enum sandbox_use use)
{
    static const char *const common[] = {"bwrap",
                                         "--unshare-user",
                                         "--unshare-pid",
                                         "--unshare-net",
                                         "--unshare-ipc",
                                         "--die-with-parent",
                                         "--cap-drop",
                                         "ALL",
                                         NULL};
    /* A compiler told to include /dev/zero would read until memory runs out. */
    static const char *const null[] = {"--dir", "/dev", "--dev-bind", "/dev/null", "/dev/null", NULL};
    static const char *const devices[] = {"--dev", "/dev", NULL};
    s->count = 0;
    s->used = 0;
    add_words(s, common);
    show_system(s);
    show_library_path(s);
    add_words(s, use == SANDBOX_COMPILER ? null : devices);
    if (use == SANDBOX_CUDA)
        show_gpu(s);
    else
        bind(s, "--ro-bind-try", "/sys/devices/system/cpu");
    add_private_folders(s);
    sandbox_stand(s, "/");
}

void sandbox_show(struct sandbox *s, const char *path)
{
    if (!is_of_the_system(path))
        bind(s, "--ro-bind", path);
}

void sandbox_lend(struct sandbox *s, const char *path)
{
    bind(s, "--bind", path);
}

void sandbox_stand(struct sandbox *s, const char *folder)
{
    if (!is_of_the_system(folder)) {
        add(s, "--dir");
        add(s, "%s", folder);
    }
    /* A second --chdir would make bubblewrap print a warning at the top of every log. */
    for (int i = 0; i + 1 < s->count; i++)
        if (strcmp(s->argv[i], "--chdir") == 0) {
            add(s, "%s", folder);
            if (s->count < SANDBOX_ARGUMENTS)
                s->argv[i + 1] = s->argv[--s->count];
            return;
        }
    add(s, "--chdir");
    add(s, "%s", folder);
}

/* --- programs --- */

static bool find_on_path(const char *name, char *path, size_t size)
{
    const char *const value = getenv("PATH");
    char *const list = strdup(value ? value : "/usr/bin:/bin");
    bool found = false;
    for (char *rest = list, *folder; list && !found && (folder = strsep(&rest, ":"));)
        found = snprintf(path, size, "%s/%s", folder, name) < (int)size && access(path, X_OK) == 0;
    free(list);
    return found;
}

/* PREFIX/bin/cc needs its libraries and headers in PREFIX/lib and so on. Nothing else of PREFIX is shown,
 * since it may be a user's home. */
static void show_prefix(struct sandbox *s, const char *program)
{
    static const char *const parts[] = {"bin",     "lib",  "lib64", "libexec", "include",
                                        "targets", "nvvm", "share", NULL};
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", program);
    for (int i = 0; i < 2; i++)
        if (strrchr(folder, '/'))
            *strrchr(folder, '/') = '\0';
    for (int i = 0; parts[i]; i++) {
        char part[PATH_MAX + 16];
        snprintf(part, sizeof part, "%s/%s", folder, parts[i]);
        if (access(part, X_OK) == 0)
            bind(s, "--ro-bind", part);
    }
}

void sandbox_show_program(struct sandbox *s, const char *name)
{
    char path[PATH_MAX], real[PATH_MAX];
    if (strchr(name, '/'))
        snprintf(path, sizeof path, "%s", name);
    else if (!find_on_path(name, path, sizeof path))
        return;
    if (path[0] != '/' || !realpath(path, real))
        return;
    if (!is_of_the_system(path)) {
        *strrchr(path, '/') = '\0';
        bind(s, "--ro-bind", path);
    }
    if (!is_of_the_system(real))
        show_prefix(s, real);
}

bool sandbox_end(struct sandbox *s)
{
    static const char *const last[] = {"--remount-ro", "/", NULL};
    add_words(s, last);
    add(s, "--");
    if (s->count >= SANDBOX_ARGUMENTS)
        return false;
    s->argv[s->count] = NULL;
    return true;
}

/* --- sources --- */

static char source[SANDBOX_SOURCES][PATH_MAX];
static int sources;

bool sandbox_add_source(const char *folder)
{
    if (sources == SANDBOX_SOURCES || !realpath(folder, source[sources]))
        return false;
    sources++;
    return true;
}

void sandbox_clear_sources(void)
{
    sources = 0;
}

const char *sandbox_source(int i)
{
    return i < sources ? source[i] : NULL;
}

void sandbox_show_sources(struct sandbox *s)
{
    for (int i = 0; i < sources; i++)
        sandbox_show(s, source[i]);
}
