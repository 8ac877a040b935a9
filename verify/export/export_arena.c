#include "export_arena.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export_internal.h"
#include "gen/contract/space.h"
#include "reports/json/json_values.h"
#include "reports/record/atomic.h"

enum { PATH_SIZE = 4400 };

static const char cases_name[] = "cases.seen";

/* The lines of a set, each after `indent`. */
static void put_lines(FILE *out, const struct drawn_list *list, const char *indent)
{
    for (int i = 0; i < list->count; i++) {
        char line[1024];
        config_format(&list->item[i].config, line, sizeof line);
        fprintf(out, "%s%s\n", indent, line);
    }
}

static void put_cases(FILE *out, const struct export_set *set, const char *problem)
{
    (void)problem;
    put_lines(out, &set->task->seen_set, "");
}

static void put_held_out(FILE *out, const struct export_set *set, const char *problem)
{
    (void)problem;
    fprintf(out,
            "# drawn by unseen, seed %llu, commitment %s\ntask_type: unseen\nnum_original_shapes: %d\n"
            "injections:\n  - file: %s\n    find_marker: raw_replace\n    old_code: |\n",
            (unsigned long long)set->task->seed, set->task->commitment, set->task->seen_set.count,
            cases_name);
    put_lines(out, &set->task->seen_set, "      ");
    fputs("    replacement_code: |\n", out);
    put_lines(out, &set->task->unseen_set, "      ");
}

/* A literal of Python; JSON string syntax is valid there. */
static void put_text(FILE *out, const char *name, const char *value)
{
    json_t *const text = json_of_text(value);
    char *const dumped = text ? json_dumps(text, JSON_ENCODE_ANY | JSON_ENSURE_ASCII) : NULL;
    fprintf(out, "%s = %s\n", name, dumped ? dumped : "None");
    free(dumped);
    json_decref(text);
}

static const char head[] =
    "#!/usr/bin/env python3\n"
    "\"\"\"Runs one action of arena-eval-v1 by `unseen verify`. `unseen export --format arena` wrote it.\n\n"
    "In config.yaml the runner is [python3, unseen_runner.py, CANDIDATE]. The variable UNSEEN names another\n"
    "program than `unseen` on PATH.\"\"\"\n\n"
    "import json\nimport os\nimport subprocess\nimport sys\n\n";

static const char body[] =
    "CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), \"cases.seen\")\n\n\n"
    "def main(words):\n"
    "    if len(words) < 2:\n"
    "        sys.exit(\"usage: unseen_runner.py CANDIDATE validate-task\\n\"\n"
    "                 \"       unseen_runner.py CANDIDATE baseline|candidate "
    "compile|correctness|performance\")\n"
    "    action = \".\".join(words[1:])\n"
    "    command = [os.environ.get(\"UNSEEN\", \"unseen\"), \"verify\", PROBLEM, words[0], \"--arena\", "
    "action,\n"
    "               \"--device\", DEVICE, \"--seed\", SEED, \"--seen\", CASES, \"--unseen\", \"0\",\n"
    "               \"--regressions\", os.devnull, \"--no-explain\"]\n"
    "    if not action.endswith(\"performance\"):\n"
    "        command.append(\"--no-timing\")\n"
    "    try:\n"
    "        return subprocess.run(command).returncode\n"
    "    except OSError as failure:\n"
    "        role, _, last = action.rpartition(\".\")\n"
    "        line = {\"protocol\": \"arena-eval-v1\", \"role\": role or \"task\", \"action\": last, "
    "\"status\": "
    "\"FAIL\",\n"
    "                \"cases\": [], \"failure_kind\": \"execution_failure\",\n"
    "                \"reason\": f\"{command[0]}: {failure.strerror}\"}\n"
    "        print(\"ARENA_EVAL_RESULT=\" + json.dumps(line))\n"
    "        return 1\n\n\n"
    "if __name__ == \"__main__\":\n"
    "    sys.exit(main(sys.argv[1:]))\n";

/* A problem in a folder is named by its whole path, since the runner works in another one. */
static void put_runner(FILE *out, const struct export_set *set, const char *problem)
{
    char whole[PATH_MAX], seed[32];
    const bool is_path = strchr(problem, '/') != NULL || access(problem, F_OK) == 0;
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)set->task->seed);
    fputs(head, out);
    put_text(out, "PROBLEM", is_path && realpath(problem, whole) ? whole : problem);
    put_text(out, "DEVICE", set->task->device.backend == BACKEND_HOST ? "host" : "cuda");
    put_text(out, "SEED", seed);
    fputs(body, out);
}

static const struct {
    const char *name;
    void (*put)(FILE *out, const struct export_set *set, const char *problem);
} files[] = {
    {cases_name, put_cases}, {"held_out_shapes.yaml", put_held_out}, {"unseen_runner.py", put_runner}};
enum { FILES = sizeof files / sizeof *files };

static int write_one(const struct export_set *set, const char *problem, const char *path, int i, char *text,
                     size_t size)
{
    char *made = NULL;
    size_t length = 0;
    FILE *const out = open_memstream(&made, &length);
    if (out)
        files[i].put(out, set, problem);
    int failed = -1;
    if (out && fclose(out) == 0)
        failed = atomic_update(path, "a file of the task", made, length, text, size);
    else
        snprintf(text, size, "out of memory");
    free(made);
    return failed;
}

static void remove_all(const char *folder)
{
    char path[PATH_SIZE];
    for (int i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i].name);
        unlink(path);
    }
    rmdir(folder);
}

int export_arena(const struct export_set *set, const char *problem, const char *folder, bool *is_usage,
                 char *text, size_t size)
{
    char path[PATH_SIZE];
    *is_usage = true;
    if (set->seen_only || set->task->seen_set.count == 0 || set->task->unseen_set.count == 0) {
        snprintf(
            text, size,
            "--format arena without the %s set; expected both sets\n---> leave out --seen-only, and draw "
            "with --unseen N",
            set->task->seen_set.count == 0 ? "seen" : "unseen");
        return -1;
    }
    if (mkdir(folder, 0755) != 0) {
        *is_usage = errno == EEXIST || errno == ENOENT || errno == ENOTDIR;
        snprintf(text, size, "--out %.300s: cannot be made (%s); expected a new folder\n---> choose another",
                 folder, strerror(errno));
        return -1;
    }
    *is_usage = false;
    for (int i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i].name);
        if (write_one(set, problem, path, i, text, size) != 0) {
            remove_all(folder);
            return -1;
        }
    }
    return 0;
}
