/* Many settings and mutants over drawn configurations. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/contract/instantiate.h"
#include "verify/problem/paths.h"
#include "verify/session/task.h"
#include "margins.h"

/* A share of the machine's caps for a configuration: a program with switches is slow. */
static const double small_share = 1.0 / 32;

int margins_class(const struct config *config)
{
    return (int)config->value[problem_input_axis(config->problem)];
}

const char *margins_class_name(const struct problem *problem, int class)
{
    return problem_choice(problem, problem_input_axis(problem), class);
}

/* --- drawing --- */

static int read_seen(const struct bed *bed, const struct space *space, struct config_list *seen,
                     struct space_error *error)
{
    char name[128], path[1024];
    snprintf(name, sizeof name, "%s.host.seen", bed->problem->name);
    if (bed->device->backend == BACKEND_CUDA || paths_shape(path, sizeof path, name) != 0) {
        snprintf(name, sizeof name, "%s.seen", bed->problem->name);
        paths_shape(path, sizeof path, name);
    }
    return config_list_read(seen, space, path, false, error);
}

int margins_draw(struct drawn_list *out, const struct bed *bed, int count, uint64_t seed, double share)
{
    struct space space;
    struct space_error error = {""};
    struct config_list seen = {0};
    struct draw_caps caps = task_caps(bed->problem, bed->device);
    char name[128], path[1024];
    snprintf(name, sizeof name, "%s.space", bed->problem->name);
    paths_shape(path, sizeof path, name);
    if (bed->device->backend ==
        BACKEND_CUDA) /* a thread for each element, no matrix units: slower than most */
        caps = (struct draw_caps){.bytes = 1e9, .flops = 2e10};
    caps.bytes *= share;
    caps.flops *= share;
    int status = space_read(&space, bed->problem, path, &error);
    if (status == 0) {
        status = read_seen(bed, &space, &seen, &error);
        if (status == 0)
            status = draw_unseen(out, &space, &seen, NULL, count, seed, &caps, NULL, &error);
        space_clear(&space);
    }
    if (status != 0)
        fprintf(stderr, "margins: %s\n", error.text);
    config_list_clear(&seen);
    return status;
}

/* --- honest --- */

static int failed(const struct program *p, const struct config *config, int error)
{
    char line[MARGIN_LINE];
    config_format(config, line, sizeof line);
    fprintf(stderr, "margins: %s '%s': %s (%d)\n", p->problem->name, line,
            error == -2 ? "the program refused" : "out of memory or an error of the device", error);
    return -1;
}

static void note_honest(struct margins *m, const struct program *p, const struct setting *setting,
                        const struct config *config, const struct margin *margin, bool verbose)
{
    struct class_margin *c = &m->class[margins_class(config)];
    char text[SETTING_TEXT], line[MARGIN_LINE];
    setting_format(p, setting, text);
    config_format(config, line, sizeof line);
    c->runs++;
    if (c->tellings < MARGIN_TELLINGS && margin->telling > 0)
        c->telling[c->tellings++] = margin->telling;
    if (margin->wrong > 0) {
        c->wrong += margin->wrong;
        printf("  REJECTED %lld elements, worst [%lld] got %.9g want %.9g allowed %.3g\n    setting %s\n    "
               "config  %s\n",
               (long long)margin->wrong, (long long)margin->worst.index, margin->worst.got, margin->worst.mid,
               margin->worst.allowed, text, line);
    }
    if (verbose)
        printf("  %.4f %.4f  %s | %s\n", margin->unrounded, margin->rounded, line, text);
    if (margin->unrounded > c->honest || !c->line[0]) {
        c->honest = margin->unrounded;
        snprintf(c->setting, sizeof c->setting, "%s", text);
        snprintf(c->line, sizeof c->line, "%s", line);
    }
}

static int run_list(struct margins *m, const struct bed *bed, const struct program *p,
                    const struct setting *setting, const struct drawn_list *list, bool verbose)
{
    memcpy(p->choice, setting->choice, sizeof setting->choice);
    *p->mutating = 0;
    for (int i = 0; i < list->count; i++) {
        struct margin margin;
        const int error = bed_run(bed, p, &list->item[i].config, &margin);
        if (error)
            return failed(p, &list->item[i].config, error);
        note_honest(m, p, setting, &list->item[i].config, &margin, verbose);
        m->configs++;
    }
    return 0;
}

static int run_drawn(struct margins *m, const struct bed *bed, const struct program *p,
                     const struct setting *setting, const struct margin_plan *plan, uint64_t seed, bool large)
{
    struct drawn_list list = {0};
    const int count = large ? plan->large : plan->configs - plan->large;
    int status = count > 0 ? margins_draw(&list, bed, count, seed, large ? 1 : small_share) : 0;
    if (status == 0)
        status = run_list(m, bed, p, setting, &list, plan->verbose);
    drawn_list_clear(&list);
    return status;
}

int margins_honest(struct margins *m, const struct bed *bed, const struct program *p,
                   const struct margin_plan *plan)
{
    int status = 0;
    for (int i = 0; i < plan->settings && status == 0; i++) {
        const struct setting setting = setting_draw(p, bed->capability, plan->seed, i);
        const uint64_t seed = plan->seed * 1000 + (uint64_t)i;
        status = run_drawn(m, bed, p, &setting, plan, seed, false);
        if (status == 0)
            status = run_drawn(m, bed, p, &setting, plan, seed, true);
        m->settings++;
    }
    return status;
}

/* --- mutants --- */

/* Runs a mutant on small configurations of every class. While it survives, it runs on `hunt` configurations
 * that a verification draws. */
static int hunt(const struct bed *bed, const struct program *p, const struct drawn_list *list, bool stop,
                struct mutant_margin *mutant)
{
    for (int i = 0; i < list->count && !(stop && mutant->rejected); i++) {
        const struct config *config = &list->item[i].config;
        double *greatest = &mutant->by_class[margins_class(config)];
        struct margin margin;
        const int error = bed_run(bed, p, config, &margin);
        if (error)
            return failed(p, config, error);
        mutant->runs++;
        if (margin.rounded > *greatest)
            *greatest = margin.rounded;
        if (margin.wrong > 0 && !mutant->rejected) {
            mutant->rejected = true;
            config_format(config, mutant->line, sizeof mutant->line);
        }
    }
    return 0;
}

static void count_classes(struct margins *m, const struct mutant_margin *mutant)
{
    for (int c = 0; c < MARGIN_CLASSES; c++) {
        struct class_margin *class = &m->class[c];
        if (!(mutant->by_class[c] > 1))
            continue;
        if (!class->rejecting++ || mutant->by_class[c] < class->rejected)
            class->rejected = mutant->by_class[c];
    }
}

static void report_mutant(const struct bed *bed, const struct program *p, int index,
                          const struct mutant_margin *mutant)
{
    double greatest = 0;
    for (int c = 0; c < MARGIN_CLASSES; c++)
        greatest = mutant->by_class[c] > greatest ? mutant->by_class[c] : greatest;
    printf("  %-9s %-32s greatest ratio %-10.4g after %d%s%s\n",
           mutant->rejected                             ? "rejected"
           : mutant_admitted(p, index, bed->capability) ? "admitted"
                                                        : "MISSED",
           p->mutants[index].name, greatest, mutant->runs, mutant->rejected ? ", first by " : "",
           mutant->line);
}

double margins_least_excess(const struct margins *m)
{
    double least = INFINITY;
    for (int c = 0; c < MARGIN_CLASSES; c++)
        if (m->class[c].rejecting > 0 && m->class[c].rejected < least)
            least = m->class[c].rejected;
    return least;
}

int margins_mutants(struct margins *m, const struct bed *bed, const struct program *p,
                    const struct margin_plan *plan)
{
    struct drawn_list small = {0}, drawn = {0};
    const struct setting plain = setting_draw(p, bed->capability, plan->seed, 0);
    const int last = plan->last ? plan->last : p->mutant_count;
    int status = margins_draw(&small, bed, plan->configs, plan->seed, small_share);
    if (status == 0 && plan->hunt > 0)
        status = margins_draw(&drawn, bed, plan->hunt, plan->seed, 1);
    memcpy(p->choice, plain.choice, sizeof plain.choice);
    for (int i = plan->first; i < last && i < p->mutant_count && i < MARGIN_MUTANTS && status == 0; i++) {
        if (margins_least_excess(m) <= plan->excess)
            break;
        struct mutant_margin *mutant = &m->mutant[i];
        if (plan->must_only && mutant_admitted(p, i, bed->capability))
            continue;
        *p->mutating = i + 1;
        status = hunt(bed, p, &small, plan->brief, mutant);
        if (status == 0)
            status = hunt(bed, p, &drawn, true, mutant);
        count_classes(m, mutant);
        if (status == 0 && plan->verbose)
            report_mutant(bed, p, i, mutant);
    }
    *p->mutating = 0;
    drawn_list_clear(&small);
    drawn_list_clear(&drawn);
    return status;
}

/* --- printing --- */

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_telling(const struct class_margin *class)
{
    double sorted[MARGIN_TELLINGS];
    memcpy(sorted, class->telling, sizeof sorted);
    qsort(sorted, (size_t) class->tellings, sizeof *sorted, ascending);
    return class->tellings ? sorted[class->tellings / 2] : 0;
}

static void print_classes(const struct margins *m, const struct program *p)
{
    printf("  %-11s %6s  %-8s %-8s %-9s %-9s reached by\n", "class", "runs", "honest", "telling", "mutants",
           "least");
    for (int c = 0; c < MARGIN_CLASSES && margins_class_name(p->problem, c); c++) {
        const struct class_margin *class = &m->class[c];
        printf("  %-11s %6lld  %-8.3g %-8.2g %-9d %-9.3g", margins_class_name(p->problem, c),
               (long long)class->runs, class->honest, median_telling(class), class->rejecting,
               class->rejected);
        if (class->honest > 0)
            printf(" %s | %s", class->line, class->setting);
        printf("\n");
    }
}

void margins_print(const struct margins *m, const struct bed *bed, const struct program *p)
{
    int rejected = 0, seen = 0;
    printf("%s on %s (capability %d): %d settings, %d configurations\n", p->problem->name, bed->device->name,
           bed->capability, m->settings, m->configs);
    print_classes(m, p);
    for (int i = 0; i < p->mutant_count && i < MARGIN_MUTANTS; i++) {
        seen += m->mutant[i].runs > 0;
        rejected += m->mutant[i].rejected;
    }
    if (seen == 0)
        return;
    printf("  mutants: %d of %d rejected\n", rejected, seen);
    for (int i = 0; i < p->mutant_count && i < MARGIN_MUTANTS; i++)
        if (m->mutant[i].runs > 0 && !m->mutant[i].rejected) {
            report_mutant(bed, p, i, &m->mutant[i]);
            const char *why = mutant_admitted(p, i, bed->capability);
            printf("            %s%s%s\n", p->mutants[i].what, why ? "; " : "", why ? why : "");
        }
}
