/* Runs the baseline, fast.* and every honest kernel of the problem's folder. Each runs as in `unseen check`:
 * isolated and guarded, three calls per configuration, with every element judged. They run on the
 * configurations of the other checks: sizes that a verdict draws, with every input class. A complete
 * verification of each would add its seen set but no class. */
#include <dirent.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prove_internal.h"
#include "verify/build/build.h"
#include "verify/device/processors.h"
#include "verify/sandbox/resource_usage.h"
#include "verify/util/clock.h"

enum { MOST_KERNELS = 64 };

struct kernel {
    char file[128], path[1024];
    struct build build;
    enum build_status status;
    char error[4096];
    double seconds;
};

struct kernels {
    struct kernel item[MOST_KERNELS];
    int count;
};

/* --- finding and building --- */

static const char *ending(const struct proof *p)
{
    return p->options->device->backend == BACKEND_CUDA ? "cu" : "c";
}

static bool ends_with(const char *file, const char *end)
{
    const char *dot = strrchr(file, '.');
    return dot && strcmp(dot + 1, end) == 0;
}

static bool add(const struct proof *p, struct kernels *k, const char *file)
{
    struct kernel *kernel = &k->item[k->count];
    if (k->count == MOST_KERNELS || folder_source(p->problem, file, kernel->path, sizeof kernel->path) != 0)
        return false;
    snprintf(kernel->file, sizeof kernel->file, "%s", file);
    k->count++;
    return true;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct kernel *)a)->file, ((const struct kernel *)b)->file);
}

static void add_honest(const struct proof *p, struct kernels *k)
{
    char path[1024], file[128];
    const int from = k->count;
    DIR *folder = folder_source(p->problem, "honest", path, sizeof path) == 0 ? opendir(path) : NULL;
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;)
        if (ends_with(entry->d_name, ending(p)) && strlen(entry->d_name) < 64) {
            snprintf(file, sizeof file, "honest/%.64s", entry->d_name);
            add(p, k, file);
        }
    if (folder)
        closedir(folder);
    qsort(k->item + from, (size_t)(k->count - from), sizeof *k->item, by_name);
    if (p->options->kernels && k->count - from > p->options->kernels)
        k->count = from + p->options->kernels;
}

static void build(const struct proof *p, struct kernel *kernel)
{
    const struct device *device = p->options->device;
    const struct build_options options = {.path = kernel->path,
                                          .backend = device->backend,
                                          .device = device->ordinal,
                                          .arch = device->arch,
                                          .timeout = 600};
    const double start = clock_seconds();
    kernel->status = build_candidate(&kernel->build, &options, kernel->error, sizeof kernel->error);
    kernel->seconds = clock_seconds() - start;
}

/* Builds in parallel, since a GPU's compiler takes half a minute for some kernels. */
static bool build_all(struct proof *p, struct kernels *k)
{
    prove_progress(p, "building kernels", 0, k->count);
#pragma omp parallel for schedule(dynamic) num_threads(processors_available())
    for (int i = 0; i < k->count; i++)
        build(p, &k->item[i]);
    for (int i = 0; i < k->count; i++)
        if (k->item[i].status == BUILD_ENVIRONMENT)
            return prove_break(p, PROVE_ENVIRONMENT, "%s", k->item[i].error);
        else if (k->item[i].status != BUILD_OK)
            prove_fail(p, PROVE_KERNELS, NULL, "kernels that compile", "%s: %s", k->item[i].file,
                       k->item[i].error);
    return !prove_interrupted(p);
}

/* --- running --- */

static struct session *open_session(const struct proof *p, const struct build *build)
{
    const int processors = processors_available();
    const struct session_options options = {.problem = p->problem,
                                            .device = p->options->device,
                                            .object = build->object,
                                            .timeout = p->options->timeout,
                                            .memory = resource_usage_of_worker(1),
                                            .threads = processors < 2    ? 2
                                                       : processors > 16 ? 16
                                                                         : processors,
                                            .brief = true,
                                            .workers = 1};
    return session_open(&options);
}

static bool promises_exact(const struct proof *p, const struct prove_case *c)
{
    return p->classes > 0 && p->problem->classes[c->class].data == DATA_EXACT && !prove_is_discrete(p);
}

/* If a class promises exact sums, and an honest sum differs where nothing may, the promise is wrong. */
static bool breaks_promise(const struct proof *p, const struct config_result *r, const struct prove_case *c)
{
    return r->outcome == OUTCOME_WRONG && r->reason.cause == CAUSE_VALUE && r->worst.present &&
           promises_exact(p, c);
}

static void note(struct proof *p, const struct kernel *kernel, const struct prove_case *c,
                 const struct config_result *r, struct prove_kernel *out)
{
    const bool right = r->outcome == OUTCOME_PASS, skipped = r->outcome == OUTCOME_SKIPPED;
    const struct worst *w = &r->worst;
    out->configs++;
    out->skipped += skipped;
    if (w->present && w->allowed > 0 && w->error / w->allowed > out->reached)
        out->reached = w->error / w->allowed;
    prove_ask(p, PROVE_KERNELS, 1);
    prove_ask(p, PROVE_EXACT, promises_exact(p, c));
    if (!right && !skipped && strcmp(out->outcome, "pass") == 0)
        snprintf(out->outcome, sizeof out->outcome, "%s", outcome_name(r->outcome));
    if (breaks_promise(p, r, c))
        prove_fail(p, PROVE_EXACT, &c->config, PROMISED,
                   "class %s: %s has %.9g for %.17g in %s[%lld], %.3g being allowed",
                   p->problem->classes[c->class].name, kernel->file, w->got, w->want, w->tensor,
                   (long long)w->index, w->allowed);
    if (!right && !skipped)
        prove_fail(p, PROVE_KERNELS, &c->config, "every honest kernel passes", "%s: %s, %s", kernel->file,
                   outcome_name(r->outcome), r->detail);
}

/* A kernel that hangs or uses all memory costs a whole limit each time, so it is tried only this often. */
enum { PATIENCE = 3 };

static bool check(struct proof *p, const struct kernel *kernel, struct session *session,
                  const struct prove_case *c, struct prove_kernel *out, int *endless)
{
    struct config_result result = {.config = c->config};
    config_format(&c->config, result.line, sizeof result.line);
    switch (session_check(session, &c->config, &result)) {
    case SESSION_OK:
        note(p, kernel, c, &result, out);
        *endless += result.outcome == OUTCOME_TIMEOUT || result.outcome == OUTCOME_EXCEEDED;
        return *endless < PATIENCE;
    case SESSION_BAD:
        prove_fail(p, PROVE_KERNELS, &c->config, "kernels that load", "%s: %s", kernel->file,
                   session_error(session));
        return false;
    default: return prove_break(p, PROVE_ENVIRONMENT, "%s: %s", kernel->file, session_error(session));
    }
}

/* The first kernel runs on all configurations; each other kernel on a share of each class, different for each
 * kernel. */
static bool is_due(const struct proof *p, int kernel, int index)
{
    int first = index, end = index; /* range of its class */
    while (first > 0 && p->cases[first - 1].class == p->cases[index].class)
        first--;
    while (end < p->case_count && p->cases[end].class == p->cases[index].class)
        end++;
    const int share = p->options->sizes > 4 ? 4 : 2, turns = end - first < share ? end - first : share;
    return kernel == 0 || (index - first) % turns == kernel % turns;
}

static bool run(struct proof *p, const struct kernel *kernel, int number, struct prove_kernel *out)
{
    struct session *session = open_session(p, &kernel->build);
    const double start = clock_seconds();
    bool ok = session || prove_broke(p, "running kernels", -1);
    int endless = 0;
    snprintf(out->file, sizeof out->file, "%s", kernel->file);
    snprintf(out->outcome, sizeof out->outcome, "pass");
    for (int i = 0; i < p->case_count && ok; i++)
        if (is_due(p, number, i))
            ok = !prove_interrupted(p) && check(p, kernel, session, &p->cases[i], out, &endless);
    out->seconds = clock_seconds() - start + kernel->seconds;
    session_close(session);
    return p->status == PROVE_DONE;
}

bool prove_kernels(struct proof *p)
{
    char file[128];
    struct kernels *k = calloc(1, sizeof *k);
    bool ok = k || prove_broke(p, "running kernels", -1);
    snprintf(file, sizeof file, "baseline.%s", ending(p));
    if (ok && !add(p, k, file))
        prove_fail(p, PROVE_KERNELS, NULL, "a baseline, plain and honest", "no %s in the problem's folder",
                   file);
    snprintf(file, sizeof file, "fast.%s", ending(p));
    if (ok) {
        add(p, k, file);
        add_honest(p, k);
        p->report->kernel = calloc((size_t)k->count + 1, sizeof *p->report->kernel);
        ok = p->report->kernel ? build_all(p, k) : prove_broke(p, "running kernels", -1);
    }
    for (int i = 0; ok && i < k->count; i++) {
        prove_progress(p, k->item[i].file, i, k->count);
        if (k->item[i].status == BUILD_OK)
            ok = run(p, &k->item[i], i, &p->report->kernel[p->report->kernel_count++]);
    }
    prove_says(p, PROVE_KERNELS, "configurations by %d kernels", p->report->kernel_count);
    prove_says(p, PROVE_EXACT, "of them in classes that promise it");
    for (int i = 0; k && i < k->count; i++)
        build_clear(&k->item[i].build);
    free(k);
    return ok;
}

/* --- outputs of the baseline --- */

struct session *prove_baseline(struct proof *p)
{
    char file[128];
    struct kernels *k = calloc(1, sizeof *k);
    struct session *session = NULL;
    snprintf(file, sizeof file, "baseline.%s", ending(p));
    if (k && add(p, k, file) && build_all(p, k) && k->item[0].status == BUILD_OK) {
        p->baseline = k->item[0].build;
        session = open_session(p, &p->baseline);
    }
    free(k);
    return session;
}
