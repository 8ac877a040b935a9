/* unseen draw */
#include <stdio.h>

#include "reports/record/result.h"
#include "prepare.h"

static void print_set(const struct drawn_list *list, const char *name)
{
    char line[RESULT_LINE_SIZE];
    for (int i = 0; i < list->count; i++) {
        config_format(&list->item[i].config, line, sizeof line);
        printf("%s  # %s: %s\n", line, name, list->item[i].why);
    }
}

int command_draw(const struct options *options)
{
    struct task task;
    int status = prepare_task(&task, options);
    if (status != 0)
        return status;
    if (options->argument[1]) {
        status = prepare_step(&task, task_build(&task));
        prepare_spare(&task, options);
    }
    if (status == 0)
        status = prepare_step(&task, task_draw(&task));
    if (status == 0) {
        if (options->only_seen || !options->only_unseen)
            print_set(&task.seen_set, "seen");
        if (options->only_unseen || !options->only_seen)
            print_set(&task.unseen_set, "unseen");
        fprintf(stderr, "seed %llu, commitment %s\n%s%s%s%s%s", (unsigned long long)task.seed,
                task.commitment,
                task.directed_commitment[0] ? "commitment of the directed configurations " : "",
                task.directed_commitment, task.directed_commitment[0] ? "\n" : "", task.notes.text,
                task.notes.text[0] ? "\n" : "");
    }
    task_clear(&task);
    return status;
}
