#include "forbid_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "forbid_object.h"
#include "forbid_policy.h"

enum { MOST_KERNELS = 512, NAME = 100, USE_TEXT = 2 * NAME + POLICY_WORD + 64 };

static struct policy policy;
static char words[POLICY_WORDS * (POLICY_WORD + 2)];
static char watched[512]; /* the candidate's object; set before any session begins */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    const char *word;
    char text[USE_TEXT];
} use[POLICY_WORDS]; /* the first use of every word */
static int uses;
static bool blind;

int forbid_add(const char *list, char *error, size_t error_size)
{
    if (policy_add(&policy, list, error, error_size) != 0)
        return -1;
    *words = 0;
    for (int i = 0; i < policy.words; i++) {
        const size_t used = strlen(words);
        snprintf(words + used, sizeof words - used, "%s%s", used ? ", " : "", policy.word[i]);
    }
    return 0;
}

const char *forbid_words(void)
{
    return words;
}

/* Sanitizes a name: the candidate chooses it, and it must not control a terminal. */
static void copy_name(char *to, size_t size, const char *name)
{
    snprintf(to, size, "%s", name);
    for (char *c = to; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?';
}

static void note(const char *word, const char *how, const char *name, const char *which, const char *what)
{
    char first[NAME], second[NAME];
    bool known = false;
    copy_name(first, sizeof first, name);
    copy_name(second, sizeof second, what);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < uses; i++)
        known = known || use[i].word == word;
    if (!known && uses < POLICY_WORDS) {
        use[uses].word = word;
        snprintf(use[uses++].text, USE_TEXT, "%s: %s %s%s%s", word, how, first, which, second);
    }
    pthread_mutex_unlock(&lock);
}

/* --- the candidate's object --- */

static void look_at_name(void *data, enum object_name kind, const char *name)
{
    const bool library = kind == OBJECT_NEEDS || kind == OBJECT_CALLED;
    const char *word = policy_forbids(&policy, library ? POLICY_LIBRARY : POLICY_SYMBOL, name);
    (void)data;
    if (!library && !word)
        word = policy_forbids(&policy, POLICY_KERNEL, name);
    if (word)
        note(word,
             kind == OBJECT_NEEDS    ? "its object needs"
             : kind == OBJECT_CALLED ? "its object calls itself"
             : kind == OBJECT_REFERS ? "its object refers to"
                                     : "its object holds",
             name, "", "");
}

int forbid_object(const char *object, char *error, size_t error_size)
{
    if (policy.words == 0)
        return 0;
    const int fd = open(object, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        snprintf(error, error_size, "cannot read %s: %s\n---> build the candidate again", object,
                 strerror(errno));
        return -1;
    }
    object_names(fd, true, look_at_name, NULL);
    close(fd);
    snprintf(watched, sizeof watched, "%s", object);
    return 0;
}

bool forbid_watches(const char *object)
{
    return *watched && strcmp(object, watched) == 0;
}

/* --- loaded libraries --- */

bool forbid_is_systems(const char *path)
{
    static const char *const places[] = {"/usr/", "/lib", "/opt/", "/nix/", "/gnu/"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (strncmp(path, places[i], strlen(places[i])) == 0)
            return true;
    return false;
}

static void look_at_loaded(void *data, enum object_name kind, const char *name)
{
    const char *path = data, *word = NULL;
    if (kind == OBJECT_CALLED)
        word = policy_forbids(&policy, POLICY_LIBRARY, name);
    else if (kind == OBJECT_DEFINES)
        word = policy_forbids(&policy, POLICY_SYMBOL, name);
    if (!word && kind != OBJECT_CALLED && kind != OBJECT_NEEDS && !forbid_is_systems(path))
        word = policy_forbids(&policy, POLICY_KERNEL, name);
    if (word)
        note(word, "it loaded", path, kind == OBJECT_CALLED ? ", which calls itself " : ", which holds ",
             name);
}

void forbid_library(const char *path, int fd)
{
    const char *word = policy_forbids(&policy, POLICY_LIBRARY, path);
    if (word)
        note(word, "it loaded", path, "", "");
    else if (fd >= 0)
        object_names(fd, !forbid_is_systems(path), look_at_loaded, (void *)path);
}

/* --- launched kernels --- */

static struct {
    int count; /* number of distinct names; -1: they were not recorded */
    uint64_t key[MOST_KERNELS];
    char unasked[80];
} launched = {.count = -1};

static void count_kernel(const char *name)
{
    uint64_t key = 14695981039346656037u; /* FNV-1a */
    bool known = false;
    for (const char *c = name; *c; c++)
        key = (key ^ (unsigned char)*c) * 1099511628211u;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < launched.count && !known; i++)
        known = launched.key[i] == key;
    if (!known && launched.count >= 0 && launched.count < MOST_KERNELS)
        launched.key[launched.count++] = key;
    pthread_mutex_unlock(&lock);
}

void forbid_launches(const char *why)
{
    pthread_mutex_lock(&lock);
    if (why)
        copy_name(launched.unasked, sizeof launched.unasked, why);
    else if (launched.count < 0)
        launched.count = 0;
    pthread_mutex_unlock(&lock);
}

void forbid_launched(const char *lines)
{
    char kernel[2 * NAME], object[4 * NAME];
    for (const char *line = lines, *tab; (tab = strchr(line, '\t')) != NULL;) {
        const size_t end = strcspn(tab + 1, "\n");
        snprintf(kernel, sizeof kernel, "%.*s", (int)(tab - line), line);
        snprintf(object, sizeof object, "%.*s", (int)end, tab + 1);
        count_kernel(kernel);
        const char *word = policy_forbids_launch(&policy, kernel, object);
        if (word)
            note(word, "it launched", kernel, *object ? ", from " : "", object);
        line = tab + 1 + end;
        line += *line == '\n';
    }
}

void forbid_clear(void)
{
    pthread_mutex_lock(&lock);
    policy.words = uses = 0;
    *words = *watched = *launched.unasked = '\0';
    launched.count = -1;
    blind = false;
    pthread_mutex_unlock(&lock);
}

void forbid_set_blind(void)
{
    pthread_mutex_lock(&lock);
    blind = true;
    pthread_mutex_unlock(&lock);
}

struct forbid_uses forbid_uses(void)
{
    struct forbid_uses all = {.text = ""};
    pthread_mutex_lock(&lock);
    all.count = uses;
    all.kernels = launched.count;
    snprintf(all.unasked, sizeof all.unasked, "%s", launched.unasked);
    all.blind = blind;
    for (int i = 0; i < uses; i++) {
        const size_t used = strlen(all.text);
        snprintf(all.text + used, sizeof all.text - used, "%s%s", used ? "; " : "", use[i].text);
    }
    pthread_mutex_unlock(&lock);
    return all;
}
