#include "harden_trial.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "verify/build/scratch.h"
#include "workloads.h"
#include "verify/util/interrupt.h"
#include "verify/torch/interpreter.h"
#include "verify/torch/task.h"

/* number of torch threads: fixed, since sums in fp32 depend on it */
enum { TRIAL_SECONDS = 7200, THREADS = 2 };

/* --- the request --- */

static json_t *list_of(const struct trial_configs *configs)
{
    json_t *list = json_array();
    for (int i = 0; i < configs->count; i++)
        json_array_append_new(
            list, json_pack("{s:o, s:s, s:I}", "sizes", workload_sizes(&configs->item[i].config), "input",
                            configs->item[i].input, "seed", (json_int_t)configs->item[i].config.seed));
    return list;
}

static json_t *question(const struct trial *trial, bool faults, bool cuda)
{
    return json_pack("{s:s, s:s, s:s, s:i, s:o, s:o}", "task", imported_file(trial->task->problem->task),
                     "device", cuda ? "cuda" : "cpu", "mode", faults ? "harden" : "audit", "threads", THREADS,
                     "seen", list_of(&trial->seen), "drawn", list_of(&trial->drawn));
}

/* --- the answer --- */

static bool is_marks(const char *marks, int count)
{
    return marks && strlen(marks) == (size_t)count && strspn(marks, "01-") == (size_t)count;
}

static bool read_row(const struct trial *trial, const json_t *entry, struct trial_row *row)
{
    const char *const kind = json_string_value(json_object_get(entry, "kind"));
    row->name = json_string_value(json_object_get(entry, "name"));
    row->is_null = kind && strcmp(kind, "null") == 0;
    row->seen_published = json_string_value(json_object_get(entry, "seen_published"));
    row->seen_ours = json_string_value(json_object_get(entry, "seen_ours"));
    row->drawn_ours = json_string_value(json_object_get(entry, "drawn_ours"));
    row->drawn_hardened = json_string_value(json_object_get(entry, "drawn_hardened"));
    return row->name && kind && is_marks(row->seen_published, trial->seen.count) &&
           is_marks(row->seen_ours, trial->seen.count) && is_marks(row->drawn_ours, trial->drawn.count) &&
           is_marks(row->drawn_hardened, trial->drawn.count);
}

static bool read_tolerances(struct trial *trial, const json_t *list)
{
    if (json_array_size(list) != (size_t)trial->drawn.count)
        return false;
    for (int i = 0; i < trial->drawn.count; i++) {
        const json_t *pair = json_array_get(list, (size_t)i);
        if (json_array_size(pair) != 2)
            return false;
        trial->drawn.item[i].atol = json_number_value(json_array_get(pair, 0));
        trial->drawn.item[i].rtol = json_number_value(json_array_get(pair, 1));
    }
    return true;
}

static bool read_dropped(struct trial *trial, const json_t *list)
{
    json_t *entry;
    size_t i;
    json_array_foreach(list, i, entry)
    {
        const char *const set = json_string_value(json_object_get(entry, "set"));
        const char *const why = json_string_value(json_object_get(entry, "why"));
        const json_int_t place = json_integer_value(json_object_get(entry, "place"));
        if (!set || !why)
            return false;
        struct trial_configs *configs = strcmp(set, "seen") == 0 ? &trial->seen : &trial->drawn;
        if (place < 0 || place >= configs->count)
            return false;
        configs->item[place].dropped = why;
    }
    return json_is_array(list);
}

int trial_read(struct trial *trial, json_t *answer, char *text, size_t size)
{
    const json_t *rows = json_object_get(answer, "rows");
    trial->answer = json_incref(answer);
    trial->rows = (int)json_array_size(rows);
    trial->row = calloc((size_t)trial->rows + 1, sizeof *trial->row);
    trial->trials = (int)json_integer_value(json_object_get(answer, "trials"));
    trial->atol = json_number_value(json_object_get(answer, "atol"));
    trial->rtol = json_number_value(json_object_get(answer, "rtol"));
    trial->own = json_is_true(json_object_get(answer, "own"));
    trial->module = json_string_value(json_object_get(answer, "module"));
    bool ok = trial->row && trial->rows > 0 && trial->module &&
              read_tolerances(trial, json_object_get(answer, "tolerances")) &&
              read_dropped(trial, json_object_get(answer, "dropped"));
    for (int i = 0; ok && i < trial->rows; i++)
        ok = read_row(trial, json_array_get(rows, (size_t)i), &trial->row[i]);
    if (!ok)
        snprintf(text, size,
                 "what the interpreter wrote is no answer of unseen_torch.harden; one row for each wrong "
                 "output was "
                 "expected\n---> install unseen again");
    return ok ? 0 : -1;
}

/* --- the run --- */

struct places {
    char scratch[512], lent[560], question[600], answer[620], log[560];
};

static enum trial_status ask(struct trial *trial, const struct places *p, bool faults, char *text,
                             size_t size)
{
    const struct imported *task = trial->task->problem->task;
    const bool cuda = trial->task->device.backend == BACKEND_CUDA;
    struct interpreter it = {.argument = {p->question, p->answer},
                             .shown = {imported_folder(task), p->question},
                             .lent = p->lent,
                             .log = p->log,
                             .source = imported_source(task),
                             .done = faults ? "hardened" : "audited",
                             .seconds = TRIAL_SECONDS,
                             .cuda = cuda};
    json_t *asked = question(trial, faults, cuda);
    json_error_t error;
    const bool written = asked && json_dump_file(asked, p->question, JSON_COMPACT) == 0;
    json_decref(asked);
    if (!written) {
        snprintf(text, size, "cannot write %s: %s\n---> free some room", p->question, strerror(errno));
        return TRIAL_ENVIRONMENT;
    }
    enum folder_status status =
        interpreter_find(&it, trial->task->options.python, "harden.serve", text, size);
    if (status == FOLDER_OK)
        status = interpreter_run(&it, text, size);
    if (is_interrupted())
        return TRIAL_INTERRUPTED;
    if (status != FOLDER_OK)
        return status == FOLDER_INPUT ? TRIAL_INPUT_ERROR : TRIAL_ENVIRONMENT;
    json_t *answer = json_load_file(p->answer, 0, &error);
    const int read = trial_read(trial, answer, text, size);
    json_decref(answer);
    return read == 0 ? TRIAL_OK : TRIAL_ENVIRONMENT;
}

enum trial_status trial_run(struct trial *trial, bool faults, char *text, size_t size)
{
    struct places p;
    if (scratch_open(p.scratch, sizeof p.scratch, text, size) != BUILD_OK)
        return TRIAL_ENVIRONMENT;
    snprintf(p.lent, sizeof p.lent, "%s/lent", p.scratch);
    snprintf(p.question, sizeof p.question, "%s/question.json", p.scratch);
    snprintf(p.answer, sizeof p.answer, "%s/answer.json", p.lent);
    snprintf(p.log, sizeof p.log, "%s/log", p.scratch);
    enum trial_status status = TRIAL_ENVIRONMENT;
    if (mkdir(p.lent, 0755) != 0)
        snprintf(text, size, "cannot make %s: %s\n---> free some room", p.lent, strerror(errno));
    else
        status = ask(trial, &p, faults, text, size);
    scratch_remove(p.scratch);
    return status;
}
