#include "disassembly.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify/build/compiler.h"

enum { MOST_INSTRUCTIONS = 4 << 20, LINE_BYTES = 4096, SECONDS = 30 };

/* --- one line of objdump --- */

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static enum instruction_kind kind_of_call(const char *operands)
{
    static const struct {
        const char *name;
        enum instruction_kind kind;
    } traced[] = {{"pc", INSTRUCTION_BLOCK},           {"const_cmp", INSTRUCTION_COMPARE_NUMBER},
                  {"cmpf", INSTRUCTION_COMPARE_REALS}, {"cmpd", INSTRUCTION_COMPARE_REALS},
                  {"cmp", INSTRUCTION_COMPARE},        {"switch", INSTRUCTION_SWITCH}};
    static const char prefix[] = "<__sanitizer_cov_trace_";
    const char *const name = strstr(operands, prefix);
    for (size_t i = 0; name && i < sizeof traced / sizeof *traced; i++)
        if (starts_with(name + sizeof prefix - 1, traced[i].name))
            return traced[i].kind;
    return INSTRUCTION_CALL;
}

/* Mnemonics of x86-64 and AArch64. */
static enum instruction_kind kind_of(const char *name, const char *operands)
{
    if (starts_with(name, "call") || strcmp(name, "bl") == 0 || strcmp(name, "blr") == 0)
        return kind_of_call(operands);
    if (starts_with(name, "jmp") || strcmp(name, "b") == 0 || strcmp(name, "br") == 0)
        return INSTRUCTION_JUMP;
    if (starts_with(name, "ret"))
        return INSTRUCTION_RETURN;
    return name[0] == 'j' || starts_with(name, "b.") || starts_with(name, "cbz") ||
                   starts_with(name, "cbnz") || starts_with(name, "tbz") || starts_with(name, "tbnz")
               ? INSTRUCTION_JUMP_IF
               : INSTRUCTION_OTHER;
}

static const char *relation_of(const char *name)
{
    static const char *const known[][2] = {{"je", "=="},  {"jne", "!="}, {"jl", "<"}, {"jb", "<"},
                                           {"jle", "<="}, {"jbe", "<="}, {"jg", ">"}, {"ja", ">"},
                                           {"jge", ">="}, {"jae", ">="}, {"js", "<"}, {"jns", ">="}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i][0]) == 0)
            return known[i][1];
    return "";
}

/* The number before "<symbol>": the address that a jump names. */
static uint32_t target_of(const char *operands)
{
    const char *const symbol = strstr(operands, " <");
    const char *from = symbol;
    while (from && from > operands && isxdigit((unsigned char)from[-1]))
        from--;
    return from && from < symbol ? (uint32_t)strtoull(from, NULL, 16) : 0;
}

/* Reads "    1191:\tpush   %rbp". False: the line is no instruction. */
static bool read_instruction(char *line, struct instruction *to)
{
    char *end, *const colon = strchr(line, ':');
    if (line[0] != ' ' || !colon || colon[1] != '\t')
        return false;
    to->at = (uint32_t)strtoull(line, &end, 16);
    if (end != colon)
        return false;
    char *name = colon + 2;
    while (starts_with(name, "notrack ") || starts_with(name, "bnd "))
        name = strchr(name, ' ') + 1;
    char *operands = name + strcspn(name, " \t");
    if (*operands)
        *operands++ = '\0';
    to->kind = (unsigned char)kind_of(name, operands);
    to->target = to->kind == INSTRUCTION_JUMP || to->kind == INSTRUCTION_JUMP_IF ? target_of(operands) : 0;
    snprintf(to->relation, sizeof to->relation, "%s", relation_of(name));
    const char *const note = strstr(operands, "# ");
    to->data = note ? (uint32_t)strtoull(note + 2, NULL, 16) : 0;
    return true;
}

/* --- files --- */

static short file_index(struct disassembly *d, const char *path, size_t length)
{
    for (int i = d->files - 1; i >= 0; i--)
        if (strncmp(d->file[i], path, length) == 0 && d->file[i][length] == '\0')
            return (short)i;
    if (d->files == DISASSEMBLY_FILES)
        return -1;
    snprintf(d->file[d->files], DISASSEMBLY_PATH, "%.*s", (int)length, path);
    return (short)d->files++;
}

/* Reads "/path/kernel.c:12" or the same with " (discriminator 1)". */
static void read_place(struct disassembly *d, const char *line, struct instruction *to)
{
    const char *const note = strstr(line, " (discriminator ");
    const size_t length = note ? (size_t)(note - line) : strlen(line);
    size_t colon = length;
    while (colon > 0 && isdigit((unsigned char)line[colon - 1]))
        colon--;
    if (colon == 0 || colon == length || line[colon - 1] != ':' || colon > DISASSEMBLY_PATH)
        return;
    to->file = file_index(d, line, colon - 1);
    to->line = (int)strtol(line + colon, NULL, 10);
}

/* --- all of it --- */

static bool append(struct disassembly *d, const struct instruction *instruction)
{
    if (d->count == d->capacity) {
        const int capacity = d->capacity > 0 ? 2 * d->capacity : 4096;
        struct instruction *const item =
            capacity <= MOST_INSTRUCTIONS ? realloc(d->item, (size_t)capacity * sizeof *item) : NULL;
        if (!item)
            return false;
        d->item = item;
        d->capacity = capacity;
    }
    d->item[d->count++] = *instruction;
    return true;
}

static bool parse(struct disassembly *d, FILE *file)
{
    char line[LINE_BYTES];
    struct instruction now = {.file = -1};
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\r\n")] = '\0';
        if (strchr(line, '<') && line[0] != ' ') { /* a function begins */
            now.file = -1;
            now.line = 0;
        } else if (line[0] == ' ') {
            if (read_instruction(line, &now) && !append(d, &now))
                return false;
        } else {
            read_place(d, line, &now);
        }
    }
    return true;
}

static enum build_status read_all(struct disassembly *d, const char *path, char *why, size_t why_size)
{
    FILE *const file = fopen(path, "re");
    const bool ok = file && parse(d, file);
    if (file)
        fclose(file);
    if (!ok)
        snprintf(why, why_size, "the instrumented object has too much code");
    return ok ? BUILD_OK : BUILD_FAILED;
}

enum build_status disassembly_open(struct disassembly *d, const struct build *build, char *why,
                                   size_t why_size)
{
    char log[600], ignored[2048];
    struct compiler_command command = {.count = 0};
    const struct compiling compiling = {build->object, build->directory, log, SECONDS, .untrusted = true};
    snprintf(log, sizeof log, "%.560s/objdump.txt", build->directory);
    snprintf(why, why_size, "objdump (binutils) cannot read the instrumented object");
    *d = (struct disassembly){.file = calloc(DISASSEMBLY_FILES, sizeof *d->file)};
    compiler_add_words(&command, "objdump -d -l --no-show-raw-insn -j .text");
    compiler_add(&command, "%s", build->object);
    enum build_status status =
        d->file ? compiler_run(&command, &compiling, ignored, sizeof ignored) : BUILD_ENVIRONMENT;
    if (status == BUILD_OK)
        status = read_all(d, log, why, why_size);
    remove(log);
    if (status != BUILD_OK)
        disassembly_close(d);
    return status;
}

void disassembly_close(struct disassembly *d)
{
    free(d->item);
    free(d->file);
    *d = (struct disassembly){.count = 0};
}

int disassembly_find(const struct disassembly *d, uint32_t address)
{
    int low = 0, high = d->count - 1;
    while (low <= high) {
        const int middle = low + (high - low) / 2;
        if (d->item[middle].at == address)
            return middle;
        if (d->item[middle].at < address)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return -1;
}
