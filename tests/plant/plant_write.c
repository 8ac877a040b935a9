/* The source of a planted fault: its truth as a header, the honest candidate under another name, the
 * skeleton's constants, and the skeleton. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plant.h"

static int complain(const char *path)
{
    fprintf(stderr, "%s: %s\n---> run in the repository's root, with room for the files\n", path,
            strerror(errno));
    return -1;
}

/* --- the pieces that are copied --- */

static int copy_file(FILE *out, const char *path)
{
    char line[1024];
    FILE *in = fopen(path, "re");
    if (!in)
        return complain(path);
    while (fgets(line, sizeof line, in))
        fputs(line, out);
    fclose(in);
    return 0;
}

/* Copies it without its first comments, whose keys would apply to the whole file. problems/candidate.h
 * replaces the line that includes it, since the file may lie anywhere. */
static int copy_honest(FILE *out, const struct plant_field *field, const char *path)
{
    char line[1024], header[PLANT_PATH];
    bool head = true;
    int status = 0;
    FILE *in = fopen(path, "re");
    if (!in)
        return complain(path);
    snprintf(header, sizeof header, "%s/problems/candidate.h", field->root);
    while (status == 0 && fgets(line, sizeof line, in)) {
        head = head && strncmp(line, "//", 2) == 0;
        if (strncmp(line, "#include \"", 10) == 0 && strstr(line, "candidate.h\""))
            status = copy_file(out, header);
        else if (!head)
            fputs(line, out);
    }
    fclose(in);
    return status;
}

/* The honest candidate's "// link:" line, which must stand among the first ten. */
static void copy_link(FILE *out, const char *path)
{
    char line[1024];
    FILE *in = fopen(path, "re");
    for (int i = 0; in && i < 10 && fgets(line, sizeof line, in); i++)
        if (strncmp(line, "// link:", 8) == 0)
            fputs(line, out);
    if (in)
        fclose(in);
}

/* --- text derived from the problem --- */

static const char *type_of(const struct plant_field *field, enum dtype dtype)
{
    const struct dtype_row *row = dtype_row(dtype);
    static const char *const bits[] = {[8] = "uint8_t", [16] = "uint16_t"};
    return !row->in_cuda ? row->in_c : field->cuda ? row->in_cuda : bits[row->bits < 8 ? 8 : row->bits];
}

static const char *const argument_types[] = {[ARGUMENT_I64] = "int64_t",
                                             [ARGUMENT_I32] = "int32_t",
                                             [ARGUMENT_BOOL] = "bool",
                                             [ARGUMENT_F32] = "float",
                                             [ARGUMENT_F64] = "double"};

static void write_entry(FILE *out, const struct plant_field *field)
{
    const struct problem *p = field->problem;
    fprintf(out, "#define PLANT_ENTRY %sint %s(", field->cuda ? "extern \"C\" " : "", p->name);
    for (int t = 0; p->tensors[t].name; t++)
        fprintf(out, "%s%s *%s, ", p->tensors[t].role == TENSOR_INPUT ? "const " : "",
                type_of(field, p->tensors[t].dtype), p->tensors[t].name);
    for (int e = 0; p->arguments[e].name; e++)
        fprintf(out, "%s %s, ", argument_types[p->arguments[e].type], p->arguments[e].name);
    fprintf(out, "%sstream)\n#define PLANT_CALL plant_honest(", field->cuda ? "cudaStream_t " : "void *");
    for (int t = 0; p->tensors[t].name; t++)
        fprintf(out, "%s, ", p->tensors[t].name);
    for (int e = 0; p->arguments[e].name; e++)
        fprintf(out, "%s, ", p->arguments[e].name);
    fprintf(out, "stream)\n");
}

/* Dimensions that are no arguments, expressed by arguments. */
static const char *dimension_code(const char *name)
{
    static const struct {
        const char *name, *code;
    } derived[] = {{"oh", "((h + 2 * pad_h - dil_h * (kh - 1) - 1) / stride_h + 1)"},
                   {"ow", "((w + 2 * pad_w - dil_w * (kw - 1) - 1) / stride_w + 1)"}};
    for (size_t i = 0; i < sizeof derived / sizeof *derived; i++)
        if (strcmp(derived[i].name, name) == 0)
            return derived[i].code;
    return name;
}

/* "[batch, heads, head_dim]" is rows of head_dim columns. */
static void write_shape(FILE *out, const struct tensor *tensor)
{
    char name[64];
    const char *at = tensor->shape + 1;
    int length;
    fprintf(out, "#define PLANT_ROWS (1");
    while (sscanf(at, " %63[a-z_0-9]%n", name, &length) == 1 && at[length] == ',') {
        fprintf(out, " * %s", dimension_code(name));
        at += length + 1;
    }
    fprintf(out, ")\n#define PLANT_COLUMNS (%s)\n", dimension_code(name));
}

void plant_condition_code(const struct plant *plant, char *text, size_t size)
{
    static const char *const word[] = {[PLANT_AND] = "&&", [PLANT_OR] = "||"};
    if (plant->join == PLANT_SINGLE)
        snprintf(text, size, "%s", plant->term[0].code);
    else
        snprintf(text, size, "(%s) %s (%s)", plant->term[0].code, word[plant->join], plant->term[1].code);
}

static void write_damage(FILE *out, const struct plant *plant, bool control)
{
    const struct tensor *tensor = &plant->problem->tensors[plant->output];
    const int bits = dtype_row(tensor->dtype)->bits;
    char condition[2 * PLANT_TEXT + 16];
    plant_condition_code(plant, condition, sizeof condition);
    fprintf(out, "#define PLANT_CONDITION (%s)\n#define PLANT_ON %d\n", condition, !control);
    fprintf(out, "#define PLANT_DAMAGE %s\n", plant_damage_code(plant->damage));
    fprintf(out, "#define PLANT_PLACE (%s)\n", plant_place_code(plant));
    fprintf(out, "#define PLANT_BYTES %d\n", plant->bytes);
    fprintf(out, "#define PLANT_OUTPUT %s\n", tensor->name);
    fprintf(out, "#define PLANT_WORD uint%d_t\n", bits);
    fprintf(out, "#define PLANT_FLOAT %d\n", tensor->dtype != DTYPE_I64);
    fprintf(out, "#define PLANT_EXACT %d\n", plant->problem->arithmetic_class == ARITHMETIC_EXACT);
    /* bf16 loses four of its seven fraction bits, fp32 sixteen of 23 */
    fprintf(out, "#define PLANT_KEPT_BITS 0x%xu\n", bits == 16 ? 0xfff00000u : 0xffff0000u);
    write_shape(out, tensor);
}

/* The keys of tests/support/battery.h. */
static void write_header(FILE *out, const struct plant *plant, bool control)
{
    char fault[96];
    const char *source = strstr(plant->source, "problems/");
    plant_describe(plant, fault, sizeof fault);
    fprintf(out, "// problem: %s\n", plant->problem->name);
    copy_link(out, plant->source);
    fprintf(out, "// verdict: %s\n", control ? "general" : plant->verdict);
    if (!control) {
        fprintf(out, "// fault: %s\n// outcomes: %s\n// when: %s\n", fault, plant->outcomes, plant->when);
        if (plant->by_bits)
            fprintf(out, "// shows: for sure on normal values, 64 outputs or more\n");
        if (plant->intermittent)
            fprintf(out, "// shows: nearly always\n");
    }
    fprintf(out, "// construction: %s, %s fault %d of seed %llu\n\n", source ? source : plant->source,
            control ? "the control without" : "with", plant->number, (unsigned long long)plant->seed);
}

int plant_write(const struct plant *plant, const struct plant_field *field, bool control, const char *path)
{
    char contents[PLANT_PATH], skeleton[PLANT_PATH];
    const char *name = field->problem->name;
    FILE *out = fopen(path, "we");
    if (!out)
        return complain(path);
    write_header(out, plant, control);
    fprintf(out, "#define %s plant_honest\n", name);
    int status = copy_honest(out, field, plant->source);
    fprintf(out, "#undef %s\n\n", name);
    write_entry(out, field);
    write_damage(out, plant, control);
    snprintf(contents, sizeof contents, "%s/tests/plant/contents.in", field->root);
    if (status == 0 && plant->problem->derived)
        status = copy_file(out, contents);
    snprintf(skeleton, sizeof skeleton, "%s/tests/plant/skeleton.%s.in", field->root,
             field->cuda ? "cu" : "c");
    if (status == 0)
        status = copy_file(out, skeleton);
    if (fclose(out) != 0 && status == 0)
        status = complain(path);
    return status;
}
