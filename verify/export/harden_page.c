/* Writes HARDEN.md and harden.json, which explain the list. */
#include <stdlib.h>
#include <string.h>

#include "harden.h"
#include "workloads.h"
#include "verify/util/version.h"

enum { NAMED = 4 };

static const struct trial_config *config_at(const struct hardened *h, int place)
{
    return &h->trial->drawn.item[h->chosen[place]];
}

/* Writes numeric axes only: "M=64 N=3". */
static void write_sizes(FILE *out, const struct config *config)
{
    const char *blank = "";
    for (int i = 0; config->problem->axes[i].name; i++)
        if (config->problem->axes[i].kind == AXIS_NUMBER) {
            fprintf(out, "%s%s=%lld", blank, config->problem->axes[i].name, (long long)config->value[i]);
            blank = " ";
        }
}

static int count_dropped(const struct trial_configs *configs)
{
    int dropped = 0;
    for (int i = 0; i < configs->count; i++)
        dropped += configs->item[i].dropped != NULL;
    return dropped;
}

static void write_counts(FILE *out, const char *what, const struct harden_counts *c)
{
    fprintf(out, "| %s | %d | %d | %d | %d | %d | %d |\n", what, c->all, c->shown, c->published, c->ours,
            c->list, c->any);
}

static void write_before_and_after(FILE *out, const struct hardened *h)
{
    const struct harden_counts nulls = harden_count(h, true), faults = harden_count(h, false);
    fprintf(out,
            "## Before and after\n\n"
            "The old check is %s: `allclose` with atol %g and rtol %g against the reference, %d "
            "trials, at the %d "
            "published configuration%s. The new one is the list below, with the tolerance of each.\n\n"
            "| wrong outputs | all | shown | rejected by the old check | by the allowed error at the "
            "published shape | by the new "
            "check | by any of the %d configurations tried |\n|---|---|---|---|---|---|---|\n",
            h->trial->own ? "the task's, with a tolerance of its own" : "KernelBench's", h->trial->atol,
            h->trial->rtol, h->trial->trials, h->trial->seen.count, h->trial->seen.count == 1 ? "" : "s",
            h->trial->drawn.count - count_dropped(&h->trial->drawn));
    write_counts(out, "null outputs", &nulls);
    write_counts(out, "planted faults", &faults);
    fprintf(out,
            "\nThe old check accepts %d null outputs and %d planted faults of those that show on some "
            "configuration; the new one %d "
            "and %d.\n\n",
            nulls.shown - nulls.published, faults.shown - faults.published, nulls.shown - nulls.list,
            faults.shown - faults.list);
}

/* Writes why a configuration is in the list. */
static void write_reason(FILE *out, const struct hardened *h, int place)
{
    int named = 0;
    for (int r = 0; r < h->trial->rows; r++) {
        const struct trial_row *row = &h->trial->row[r];
        if (!harden_is_fresh(h, row, place) || named++ >= NAMED)
            continue;
        fprintf(out, "%s%s", named > 1 ? "; " : "", row->name);
    }
    if (named > NAMED)
        fprintf(out, "; and %d more", named - NAMED);
}

static void write_list(FILE *out, const struct hardened *h)
{
    fprintf(out,
            "## The list\n\nSmallest first; each for what none before it tells from the right answer.\n\n"
            "| # | shape | inputs | seed | atol | rtol | tells first |\n|---|---|---|---|---|---|---|\n");
    for (int i = 0; i < h->count; i++) {
        const struct trial_config *item = config_at(h, i);
        fprintf(out, "| %d | ", i);
        write_sizes(out, &item->config);
        fprintf(out, " | %s | %llu | %.3g | %.3g | %d: ", item->input, (unsigned long long)item->config.seed,
                item->atol, item->rtol, h->fresh[i]);
        write_reason(out, h, i);
        fprintf(out, " |\n");
    }
    fprintf(
        out,
        "\nInputs: `published` as get_inputs draws them; `signed` normal; `small` and `large` 2^-10 and 2^7 "
        "times that; `wide` "
        "2^-6 to 2^6 of both signs; `needle` with 30 at the end of every row; `integers` from -8 to 8.\n\n");
}

/* Writes the rows selected by `wanted`; nothing if there are none. */
static void write_rows(FILE *out, const struct hardened *h, const char *title,
                       bool (*wanted)(const struct hardened *, const struct trial_row *))
{
    int n = 0;
    for (int r = 0; r < h->trial->rows; r++)
        if (wanted(h, &h->trial->row[r]))
            fprintf(out, "%s- %s\n", n++ ? "" : title, h->trial->row[r].name);
    if (n)
        fprintf(out, "\n");
}

static bool lives_old(const struct hardened *h, const struct trial_row *row)
{
    (void)h;
    return harden_is_shown(row) && !harden_is_rejected(row->seen_published);
}

static bool lives_new(const struct hardened *h, const struct trial_row *row)
{
    return harden_is_shown(row) && !harden_kills(h, row);
}

static bool never_shows(const struct hardened *h, const struct trial_row *row)
{
    (void)h;
    return !harden_is_shown(row);
}

/* Shows how to check a solution: from the shell, or in Python with the list's data on each shape. */
static void write_example(FILE *out, const struct hardened *h)
{
    fprintf(
        out,
        "\nA solution is a file with a class `ModelNew`, constructed as `Model` is and with the names of "
        "its state dict:\n\n"
        "    python %s.py solution.py          # a line a shape; status 0: all are right, 1: some are "
        "not, 2: there is no ModelNew\n"
        "    python %s.py solution.py cpu      # on that device; without it on a GPU where there is one\n\n"
        "The same in Python, where None says that a shape is right:\n\n"
        "    from %s import check\n"
        "    from solution import ModelNew\n"
        "    failures = [(i, why) for i, why in enumerate(check(ModelNew)) if why]\n",
        h->name, h->name, h->name);
}

static void write_use(FILE *out, const struct hardened *h)
{
    fprintf(out,
            "## Use\n\n"
            "- `%s.py` (KernelBench): `Model`, `get_inputs` and `get_init_inputs` as they were; "
            "`get_inputs_for(i)`, "
            "`get_init_inputs_for(i)`, `model_for(i)`, `vary_weights(model, SEEDS[i])`, `accepts(i, want, "
            "got)`, `check(ModelNew)`.\n"
            "- `shapes.py` (KernelBench-Hard), `workloads.jsonl` (FlashInfer-Bench): the shapes alone; "
            "classes of inputs and tolerances "
            "are not theirs to say.\n"
            "- `tests.txt` (gpu-mode): names of letters alone, digits as A to J; `input` is the class.\n"
            "- `harden.json`: all of it.\n\n"
            "A reference on a GPU must not use TF32 (`torch.backends.cuda.matmul.allow_tf32` and "
            "`torch.backends.cudnn.allow_tf32` False): the tolerances are those of the declared arithmetic. "
            "A list that is published "
            "can be fitted to; `unseen verify` draws others every time. Indices beyond 2^31 need tensors "
            "that were not tried here.\n",
            h->name);
    write_example(out, h);
}

void harden_write_page(FILE *out, const struct hardened *h)
{
    fprintf(out,
            "# %s, hardened\n\nBy `unseen harden`, version %s, seed %llu, on %s. %d configurations were "
            "tried; of %d the right "
            "answer cannot be told.\n\n",
            h->name, UNSEEN_VERSION, (unsigned long long)h->seed, h->device, h->trial->drawn.count,
            count_dropped(&h->trial->drawn));
    write_before_and_after(out, h);
    write_list(out, h);
    write_rows(out, h, "## What the old check accepts\n\n", lives_old);
    write_rows(out, h, "## What the new check accepts\n\n", lives_new);
    write_rows(out, h, "## Planted, and never different from the right answer on any configuration tried\n\n",
               never_shows);
    write_use(out, h);
}

/* --- JSON --- */

static json_t *counts_json(const struct harden_counts *c)
{
    return json_pack("{s:i, s:i, s:i, s:i, s:i, s:i}", "all", c->all, "shown", c->shown, "published",
                     c->published, "published_shape_allowed_error", c->ours, "list", c->list, "any", c->any);
}

static json_t *shapes_json(const struct hardened *h)
{
    json_t *list = json_array();
    for (int i = 0; i < h->count; i++) {
        const struct trial_config *item = config_at(h, i);
        json_t *first = json_array();
        for (int r = 0; r < h->trial->rows; r++)
            if (harden_is_fresh(h, &h->trial->row[r], i))
                json_array_append_new(first, json_string(h->trial->row[r].name));
        json_array_append_new(list,
                              json_pack("{s:o, s:s, s:I, s:f, s:f, s:s, s:f, s:o}", "sizes",
                                        workload_sizes(&item->config), "input", item->input, "seed",
                                        (json_int_t)item->config.seed, "atol", item->atol, "rtol", item->rtol,
                                        "why", item->why, "cost", item->cost, "tells_first", first));
    }
    return list;
}

static json_t *rows_json(const struct hardened *h)
{
    json_t *list = json_array();
    for (int r = 0; r < h->trial->rows; r++) {
        const struct trial_row *row = &h->trial->row[r];
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:b, s:b, s:b, s:b, s:b}", "name", row->name, "kind",
                            row->is_null ? "null" : "fault", "shown", harden_is_shown(row), "published",
                            harden_is_rejected(row->seen_published), "published_shape_allowed_error",
                            harden_is_rejected(row->seen_ours), "list", harden_kills(h, row), "any",
                            harden_is_rejected(row->drawn_hardened)));
    }
    return list;
}

static json_t *tried_json(const struct trial_configs *tried)
{
    json_t *list = json_array();
    for (int i = 0; i < tried->count; i++)
        json_array_append_new(
            list, json_pack("{s:o, s:s, s:I, s:s*}", "sizes", workload_sizes(&tried->item[i].config), "input",
                            tried->item[i].input, "seed", (json_int_t)tried->item[i].config.seed, "dropped",
                            tried->item[i].dropped));
    return list;
}

void harden_write_json(FILE *out, const struct hardened *h)
{
    const struct harden_counts nulls = harden_count(h, true), faults = harden_count(h, false);
    json_t *published =
        json_pack("{s:f, s:f, s:b, s:i, s:o}", "atol", h->trial->atol, "rtol", h->trial->rtol, "own",
                  h->trial->own, "trials", h->trial->trials, "configs", tried_json(&h->trial->seen));
    json_t *root =
        json_pack("{s:i, s:{s:s, s:s}, s:s, s:s, s:I, s:o, s:o, s:i, s:{s:o, s:o}, s:o, s:o}", "harden", 1,
                  "tool", "version", UNSEEN_VERSION, "git", unseen_git, "task", h->name, "device", h->device,
                  "seed", (json_int_t)h->seed, "published", published, "tried", tried_json(&h->trial->drawn),
                  "dropped", count_dropped(&h->trial->drawn), "rejected", "nulls", counts_json(&nulls),
                  "faults", counts_json(&faults), "shapes", shapes_json(h), "wrong", rows_json(h));
    char *text = root ? json_dumps(root, JSON_INDENT(1)) : NULL;
    fprintf(out, "%s\n", text ? text : "");
    free(text);
    json_decref(root);
}
