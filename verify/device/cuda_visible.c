#include "cuda_visible.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Set before threads start; changed at most once, while the first process starts and no other one does
 * (child.c). */
static struct {
    char uuid[64];
    int node;
} visible = {.node = -1};

static const char *const variable = "CUDA_VISIBLE_DEVICES";
static int chosen = -1;

bool cuda_visible_choose(int number)
{
    const char *item = getenv(variable);
    char one[64];
    if (chosen >= 0)
        return chosen == number;
    snprintf(one, sizeof one, "%d", number);
    for (int i = 0; item && i < number; i++) {
        item = strchr(item, ',');
        if (!item++)
            return false;
    }
    if (item)
        snprintf(one, sizeof one, "%.*s", (int)strcspn(item, ","), item);
    if (setenv(variable, one, 1) != 0)
        return false;
    chosen = number;
    return true;
}

int cuda_visible_chosen(void)
{
    return chosen;
}

void cuda_visible_set(const char *uuid, int node)
{
    snprintf(visible.uuid, sizeof visible.uuid, "%s", uuid);
    visible.node = node;
}

void cuda_visible_all(void)
{
    cuda_visible_set("", -1);
}

const char *cuda_visible_uuid(void)
{
    return *visible.uuid ? visible.uuid : NULL;
}

int cuda_visible_node(void)
{
    return visible.node;
}

int cuda_visible_ordinal(int own)
{
    return *visible.uuid ? 0 : own;
}

int cuda_visible_find_node(const char *bus)
{
    static const char *const folder = "/proc/driver/nvidia/gpus", *const field = "Device Minor:";
    char path[128], line[256];
    int node = -1, length = snprintf(path, sizeof path, "%s/%.40s/information", folder, bus);
    for (int i = (int)strlen(folder); i < length;
         i++) /* the runtime writes capital letters, the driver does not */
        path[i] = (char)tolower((unsigned char)path[i]);
    FILE *const file = fopen(path, "r");
    while (file && node < 0 && fgets(line, sizeof line, file))
        if (strncmp(line, field, strlen(field)) == 0)
            node = atoi(line + strlen(field));
    if (file)
        fclose(file);
    return node;
}
