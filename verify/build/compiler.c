#include "compiler.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void compiler_add(struct compiler_command *command, const char *format, ...)
{
    va_list arguments;
    char *place = command->text + command->used;
    size_t room = sizeof command->text - command->used;
    va_start(arguments, format);
    int length = vsnprintf(place, room, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= room || command->count >= COMMAND_ARGUMENTS - 1) {
        command->count = COMMAND_ARGUMENTS;
        return;
    }
    command->used += (size_t)length + 1;
    command->argv[command->count++] = place;
    command->argv[command->count] = NULL;
}

void compiler_add_words(struct compiler_command *command, const char *words)
{
    for (words += strspn(words, " "); *words; words += strspn(words, " ")) {
        const size_t length = strcspn(words, " ");
        compiler_add(command, "%.*s", (int)length, words);
        words += length;
    }
}

void compiler_add_file(struct compiler_command *command, const char *path)
{
    compiler_add(command, "%s%s", *path == '-' ? "./" : "", path);
}

bool compiler_fits(const struct compiler_command *command)
{
    return command->count < COMMAND_ARGUMENTS;
}

static bool is_program(char *path, size_t size, const char *directory, int length, const char *tail)
{
    int wrote = snprintf(path, size, "%.*s/%s", length, directory, tail);
    return wrote > 0 && (size_t)wrote < size && access(path, X_OK) == 0;
}

bool compiler_find_nvcc(char *path, size_t size)
{
    const char *search = getenv("PATH"), *home = getenv("CUDA_HOME");
    while (search && *search) {
        size_t length = strcspn(search, ":");
        if (length > 0 && is_program(path, size, search, (int)length, "nvcc"))
            return true;
        search += length + (search[length] == ':');
    }
    if (home && *home && is_program(path, size, home, (int)strlen(home), "bin/nvcc"))
        return true;
    return is_program(path, size, "/usr/local/cuda", 15, "bin/nvcc");
}
