/* Observes the loaded libraries of a candidate's processes from outside: the kernel writes /proc/PID/maps, so
 * a process cannot forge it. */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "forbid_internal.h"

enum { PROCESSES = 256, FILES = 1024 };

/* Identifies a mapped file by device and inode. */
struct place {
    unsigned major, minor;
    unsigned long long inode;
};

struct forbid_watch {
    char object[512];
    pid_t pid;
    bool started, saw; /* the first look is done; a process with the object mapped was seen */
    int looks;
    int known; /* number of the last FILES files that were checked */
    struct place place[FILES];
    pid_t process[PROCESSES];
    int processes;
};

static bool is_known(struct forbid_watch *w, const struct place *place)
{
    const int count = w->known < FILES ? w->known : FILES;
    for (int i = 0; i < count; i++)
        if (w->place[i].inode == place->inode && w->place[i].major == place->major &&
            w->place[i].minor == place->minor)
            return true;
    w->place[w->known++ % FILES] = *place;
    if (w->known == 2 * FILES)
        w->known = FILES;
    return false;
}

/* --- processes --- */

static void add_children(struct forbid_watch *w, pid_t pid)
{
    char path[64];
    int child;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *threads = opendir(path);
    for (struct dirent *t; threads && (t = readdir(threads));) {
        if (!isdigit((unsigned char)t->d_name[0]))
            continue;
        char list[128];
        snprintf(list, sizeof list, "/proc/%d/task/%.20s/children", (int)pid, t->d_name);
        FILE *children = fopen(list, "re");
        while (children && w->processes < PROCESSES && fscanf(children, "%d", &child) == 1)
            w->process[w->processes++] = child;
        if (children)
            fclose(children);
    }
    if (threads)
        closedir(threads);
}

static void list_processes(struct forbid_watch *w)
{
    w->process[0] = w->pid;
    w->processes = 1;
    for (int i = 0; i < w->processes; i++)
        add_children(w, w->process[i]);
}

/* --- files --- */

/* Opens the file through the mapping itself if permitted, since its name may refer to another file by now. */
static int open_file(pid_t pid, const char *range, const char *file)
{
    char path[2][600];
    struct stat status;
    snprintf(path[0], sizeof path[0], "/proc/%d/map_files/%.64s", (int)pid, range);
    snprintf(path[1], sizeof path[1], "/proc/%d/root%.500s", (int)pid, file);
    for (int i = 0; i < 2; i++)
        if (stat(path[i], &status) == 0 && S_ISREG(status.st_mode)) {
            const int fd = open(path[i], O_RDONLY | O_CLOEXEC | O_NONBLOCK);
            if (fd >= 0)
                return fd;
        }
    return -1;
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* "START-END rwxp OFFSET MAJOR:MINOR INODE    PATH" */
static void look_at_line(struct forbid_watch *w, pid_t pid, char *line)
{
    struct place place;
    char range[64];
    int path = 0;
    line[strcspn(line, "\n")] = 0;
    if (sscanf(line, "%63s %*s %*s %x:%x %llu %n", range, &place.major, &place.minor, &place.inode, &path) <
            4 ||
        place.inode == 0 || path == 0 || line[path] != '/')
        return;
    char *file = line + path, *deleted = strstr(file, " (deleted)");
    if (deleted)
        *deleted = 0;
    if (w->started && strcmp(name_of(file), name_of(w->object)) == 0)
        w->saw = true; /* checked when it was built */
    else if (w->started && strcmp(name_of(file), "libunseen-runner.so") == 0)
        w->saw = true; /* a module is not mapped, but the library that calls it is */
    else if (!is_known(w, &place) && w->started) {
        const int fd = open_file(pid, range, file);
        forbid_library(file, fd);
        if (fd >= 0)
            close(fd);
    }
}

static void look_at_process(struct forbid_watch *w, pid_t pid)
{
    char path[64], *line = NULL;
    size_t room = 0;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(path, "re");
    while (maps && getline(&line, &room, maps) > 0)
        look_at_line(w, pid, line);
    free(line);
    if (maps)
        fclose(maps);
}

static void look(struct forbid_watch *w)
{
    list_processes(w);
    for (int i = 0; i < w->processes; i++)
        look_at_process(w, w->process[i]);
}

struct forbid_watch *forbid_watch_start(const char *object, pid_t pid)
{
    struct forbid_watch *w = forbid_watches(object) ? calloc(1, sizeof *w) : NULL;
    if (!w)
        return NULL;
    snprintf(w->object, sizeof w->object, "%s", object);
    w->pid = pid;
    look(w);
    w->started = true;
    return w;
}

void forbid_watch_look(struct forbid_watch *w)
{
    if (!w)
        return;
    look(w);
    w->looks++;
}

void forbid_watch_stop(struct forbid_watch *w)
{
    if (w && w->looks > 0 && !w->saw)
        forbid_set_blind();
    free(w);
}
