/* Hill climbing for the worst honest case of every input class. One switch, one axis or the seed changes at a
 * time, and a change that is no better is undone. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gen/contract/instantiate.h"
#include "verify/problem/paths.h"
#include "verify/session/task.h"
#include "margins.h"

enum { PATIENCE = 25, TRIES = 40 }; /* steps without success before a new start; draws for a legal step */

struct climb {
    const struct bed *bed;
    const struct program *p;
    struct space space;
    struct draw_caps caps;
    struct drawn_list start;
    struct pcg *pcg;
    int next; /* of `start` */
};

struct point {
    struct setting setting;
    struct config config;
    double ratio;
};

static bool affordable(const struct climb *climb, const struct config *config)
{
    struct instance instance;
    if (!space_contains(&climb->space, config, NULL) || config_measure(config, &instance) != 0)
        return false;
    const bool fits = instance.flops <= climb->caps.flops &&
                      instance_total_bytes(config->problem, &instance) <= climb->caps.bytes;
    instance_clear(&instance);
    return fits;
}

static int64_t other_number(const struct domain *domain, int64_t value, struct pcg *pcg)
{
    if (domain->value_count)
        return domain->value[pcg_below(pcg, (uint64_t)domain->value_count)];
    switch (pcg_below(pcg, 6)) {
    case 0: return value * 2;
    case 1: return value / 2;
    case 2: return value + 1;
    case 3: return value - 1;
    case 4: return domain->low;
    default: return value + (int64_t)pcg_below(pcg, (uint64_t)value + 1);
    }
}

/* Another value of one axis, never of the class that is being searched. */
static void change_axis(struct climb *climb, struct config *config)
{
    const struct problem *problem = config->problem;
    const int input = problem_input_axis(problem), axes = problem_axis_count(problem);
    for (int i = 0; i < TRIES; i++) {
        struct config other = *config;
        const int axis = (int)pcg_below(climb->pcg, (uint64_t)axes);
        const struct domain *domain = &climb->space.domain[axis];
        if (axis == input)
            continue;
        other.value[axis] = other_number(domain, other.value[axis], climb->pcg);
        if (affordable(climb, &other)) {
            *config = other;
            return;
        }
    }
}

static struct point neighbour(struct climb *climb, const struct point *from)
{
    struct point to = *from;
    switch (pcg_below(climb->pcg, 4)) {
    case 0: change_axis(climb, &to.config); break;
    case 1: to.config.seed = pcg_below(climb->pcg, 1u << 31); break;
    default: setting_change(climb->p, climb->bed->capability, climb->pcg, &to.setting); break;
    }
    return to;
}

/* A drawn configuration, its class replaced, and a random setting. */
static struct point fresh(struct climb *climb, int class)
{
    struct point point = {.ratio = -1};
    point.setting = setting_draw(climb->p, climb->bed->capability, pcg_next(climb->pcg), 1);
    for (int i = 0; i < climb->start.count; i++) {
        point.config = climb->start.item[climb->next++ % climb->start.count].config;
        point.config.value[problem_input_axis(point.config.problem)] = class;
        if (affordable(climb, &point.config))
            break;
    }
    return point;
}

static int measure(struct climb *climb, struct margins *m, struct point *point)
{
    struct class_margin *class = &m->class[margins_class(&point->config)];
    struct margin margin;
    memcpy(climb->p->choice, point->setting.choice, sizeof point->setting.choice);
    const int error = bed_run(climb->bed, climb->p, &point->config, &margin);
    if (error) {
        fprintf(stderr, "margins: a step of the search failed (%d)\n", error);
        return -1;
    }
    point->ratio = margin.unrounded;
    class->runs++;
    m->configs++;
    class->wrong += margin.wrong;
    if (margin.wrong > 0 || point->ratio > class->honest || !class->line[0]) {
        class->honest = point->ratio;
        setting_format(climb->p, &point->setting, class->setting);
        config_format(&point->config, class->line, sizeof class->line);
    }
    return 0;
}

static int climb_class(struct climb *climb, struct margins *m, int class, int runs)
{
    struct point best = fresh(climb, class);
    int without = 0, status = measure(climb, m, &best);
    for (int i = 1; i < runs && status == 0; i++) {
        struct point next = without < PATIENCE ? neighbour(climb, &best) : fresh(climb, class);
        status = measure(climb, m, &next);
        if (without >= PATIENCE || next.ratio >= best.ratio) {
            without = next.ratio > best.ratio ? 0 : without + 1;
            if (without > PATIENCE)
                without = 0;
            best = next;
        } else {
            without++;
        }
    }
    return status;
}

int margins_search(struct margins *m, const struct bed *bed, const struct program *p, uint64_t seed, int runs)
{
    struct climb climb = {.bed = bed, .p = p, .pcg = pcg_new(seed, "honest/search")};
    struct space_error error;
    char name[128], path[1024];
    int classes = 0, status = climb.pcg ? 0 : -1;
    snprintf(name, sizeof name, "%s.space", bed->problem->name);
    paths_shape(path, sizeof path, name);
    while (margins_class_name(bed->problem, classes))
        classes++;
    if (status == 0)
        status = space_read(&climb.space, bed->problem, path, &error);
    if (status != 0)
        return status;
    climb.caps = task_caps(bed->problem, bed->device);
    climb.caps.bytes /= 16;
    climb.caps.flops = bed->device->backend == BACKEND_CUDA ? 1e9 : climb.caps.flops / 16;
    status = margins_draw(&climb.start, bed, 200, seed, 1.0 / 16);
    *p->mutating = 0;
    for (int class = 0; class < classes && status == 0; class ++)
        status = climb_class(&climb, m, class, runs / classes);
    m->settings = m->configs;
    drawn_list_clear(&climb.start);
    space_clear(&climb.space);
    pcg_free(climb.pcg);
    return status;
}
