#include "list.h"

#include <stdio.h>
#include <string.h>

enum { FIELDS = 6 }; /* name, problem, link, kind, when, held_out */

/* The side is in the fault's own first lines. */
static bool is_necessary(const char *name)
{
    char path[160], line[600];
    bool found = false;
    snprintf(path, sizeof path, "tests/corpora/bugs/%s.c", name);
    FILE *file = fopen(path, "re");
    while (file && !found && fgets(line, sizeof line, file) && strncmp(line, "//", 2) == 0)
        found = strncmp(line, "// side: necessary", 18) == 0;
    if (file)
        fclose(file);
    return found;
}

static bool read_bug(char *line, struct bug *bug)
{
    char *at = line, *field[FIELDS] = {NULL};
    for (int i = 0; i < FIELDS && at; i++)
        field[i] = strsep(&at, "\t\n");
    if (!field[FIELDS - 1] || field[4][0] == '\0')
        return false;
    snprintf(bug->name, sizeof bug->name, "%s", field[0]);
    snprintf(bug->problem, sizeof bug->problem, "%s", field[1]);
    snprintf(bug->kind, sizeof bug->kind, "%s", field[3]);
    snprintf(bug->when, sizeof bug->when, "%s", field[4]);
    bug->held_out = strcmp(field[5], "0") != 0;
    bug->necessary = is_necessary(bug->name);
    return true;
}

int bug_list(struct bug *list, int most)
{
    FILE *file = fopen("tests/corpora/bugs/BUGS.tsv", "re");
    char line[2048];
    int count = 0;
    if (!file || !fgets(line, sizeof line, file)) { /* the names of the columns */
        fprintf(stderr,
                "tests/corpora/bugs/BUGS.tsv cannot be read\n---> run it in the repository's root; sh "
                "tests/corpora/bugs/table.sh\n");
        count = -1;
    }
    while (count >= 0 && count < most && fgets(line, sizeof line, file))
        count += read_bug(line, &list[count]);
    if (file)
        fclose(file);
    return count;
}
