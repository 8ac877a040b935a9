#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "margins.h"

static void *symbol_of(struct program *p, const char *name, char *error, size_t size)
{
    void *symbol = dlsym(p->library, name);
    if (!symbol && !*error)
        snprintf(error, size, "%s: no symbol %s", p->problem->name, name);
    return symbol;
}

static int load(struct program *p, char *error, size_t size)
{
    p->library = dlopen(p->build.object, RTLD_NOW | RTLD_LOCAL);
    if (!p->library) {
        snprintf(error, size, "%s", dlerror());
        return -1;
    }
    *error = '\0';
    *(void **)&p->call = symbol_of(p, p->problem->name, error, size);
    p->switches = symbol_of(p, "honest_switches", error, size);
    p->mutants = symbol_of(p, "honest_mutants", error, size);
    p->choice = symbol_of(p, "honest_choice", error, size);
    p->mutating = symbol_of(p, "honest_mutating", error, size);
    p->unrounded = symbol_of(p, "honest_unrounded", error, size);
    if (*error)
        return -1;
    while (p->switches[p->switch_count].name)
        p->switch_count++;
    while (p->mutants[p->mutant_count].name)
        p->mutant_count++;
    return 0;
}

static void program_path(const struct problem *problem, enum backend backend, char *path, size_t size)
{
    snprintf(path, size, "tests/honest/%s.%s", problem->name, backend == BACKEND_CUDA ? "cu" : "c");
}

bool program_exists(const struct problem *problem)
{
    char path[256];
    program_path(problem, BACKEND_HOST, path, sizeof path);
    return access(path, R_OK) == 0;
}

int program_open(struct program *p, const struct problem *problem, const struct device *device, char *error,
                 size_t size)
{
    char path[256];
    const struct build_options options = {.path = path,
                                          .backend = device->backend,
                                          .device = device->ordinal,
                                          .arch = device->arch,
                                          .timeout = 600};
    memset(p, 0, sizeof *p);
    p->problem = problem;
    program_path(problem, device->backend, path, sizeof path);
    if (build_candidate(&p->build, &options, error, size) != BUILD_OK)
        return -1;
    return load(p, error, size);
}

void program_close(struct program *p)
{
    if (p->library)
        dlclose(p->library);
    build_clear(&p->build);
    memset(p, 0, sizeof *p);
}

/* --- settings --- */

static int admitted_values(const struct honest_switch *s, int capability, int out[HONEST_MAX_VALUES])
{
    int count = 0;
    for (int v = 0; s->values[v]; v++)
        if (s->capability[v] <= capability)
            out[count++] = v;
    return count;
}

struct setting setting_draw(const struct program *p, int capability, uint64_t seed, int index)
{
    struct setting setting = {{0}};
    char purpose[96];
    snprintf(purpose, sizeof purpose, "%s/honest/%d", p->problem->name, index);
    struct pcg *pcg = pcg_new(seed, purpose);
    for (int s = 0; pcg && index > 0 && s < p->switch_count; s++) {
        int value[HONEST_MAX_VALUES];
        const int count = admitted_values(&p->switches[s], capability, value);
        if (count > 0)
            setting.choice[s] = value[pcg_below(pcg, (uint64_t)count)];
    }
    pcg_free(pcg);
    return setting;
}

void setting_change(const struct program *p, int capability, struct pcg *pcg, struct setting *setting)
{
    const int s = (int)pcg_below(pcg, (uint64_t)p->switch_count);
    int value[HONEST_MAX_VALUES];
    const int count = admitted_values(&p->switches[s], capability, value);
    if (count > 0)
        setting->choice[s] = value[pcg_below(pcg, (uint64_t)count)];
}

const char *mutant_admitted(const struct program *p, int mutant, int capability)
{
    return capability >= p->mutants[mutant].capability ? p->mutants[mutant].admitted : NULL;
}

static bool set_word(const struct program *p, const char *word, struct setting *setting)
{
    const char *equals = strchr(word, '=');
    for (int s = 0; equals && s < p->switch_count; s++) {
        const char *name = p->switches[s].name;
        if (strlen(name) != (size_t)(equals - word) || strncmp(name, word, strlen(name)) != 0)
            continue;
        for (int v = 0; p->switches[s].values[v]; v++)
            if (strcmp(p->switches[s].values[v], equals + 1) == 0) {
                setting->choice[s] = v;
                return true;
            }
    }
    return false;
}

bool setting_parse(const struct program *p, const char *text, struct setting *setting)
{
    char copy[SETTING_TEXT], *rest = NULL;
    bool known = true;
    memset(setting, 0, sizeof *setting);
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        known &= set_word(p, word, setting);
    return known;
}

void setting_format(const struct program *p, const struct setting *setting, char text[SETTING_TEXT])
{
    size_t used = 0;
    *text = '\0';
    for (int s = 0; s < p->switch_count && used < SETTING_TEXT - 1; s++)
        used += (size_t)snprintf(text + used, SETTING_TEXT - used, "%s%s=%s", s ? " " : "",
                                 p->switches[s].name, p->switches[s].values[setting->choice[s]]);
}
