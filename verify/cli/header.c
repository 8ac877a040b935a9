#include "header.h"

#include <string.h>

static const char *c_type_of(enum argument_type type)
{
    static const char *const name[] = {[ARGUMENT_I64] = "int64_t",
                                       [ARGUMENT_I32] = "int32_t",
                                       [ARGUMENT_BOOL] = "bool",
                                       [ARGUMENT_F32] = "float",
                                       [ARGUMENT_F64] = "double"};
    return name[type];
}

void header_prototype(FILE *out, const struct problem *problem, const char *stream)
{
    fprintf(out, "int %s(", problem->name);
    for (int t = 0; problem->tensors[t].name; t++)
        fprintf(out, "%s%s *%s, ", problem->tensors[t].role == TENSOR_INPUT ? "const " : "",
                dtype_row(problem->tensors[t].dtype)->in_c, problem->tensors[t].name);
    for (int e = 0; problem->arguments[e].name; e++)
        fprintf(out, "%s %s, ", c_type_of(problem->arguments[e].type), problem->arguments[e].name);
    fprintf(out, "%sstream);\n", stream);
}

void header_folded(FILE *out, const char *indent, const char *text)
{
    enum { FOLD = 84 };
    while (*text) {
        size_t length = strlen(text);
        if (length > FOLD)
            for (length = FOLD; length > 0 && text[length] != ' '; length--)
                ;
        if (length == 0)
            length = strlen(text);
        fprintf(out, "%s%.*s\n", indent, (int)length, text);
        text += length + strspn(text + length, " ");
    }
}

static bool has_dtype(const struct problem *problem, enum dtype dtype)
{
    for (int t = 0; problem->tensors[t].name; t++)
        if (problem->tensors[t].dtype == dtype)
            return true;
    return false;
}

static bool has_bool(const struct problem *problem)
{
    for (int i = 0; problem->arguments[i].name; i++)
        if (problem->arguments[i].type == ARGUMENT_BOOL)
            return true;
    return has_dtype(problem, DTYPE_BOOL);
}

/* Describes the memory of tensors that differ from the general statement on the next line. */
static void print_tensors(FILE *out, const struct problem *problem)
{
    static const char *const use[] = {[TENSOR_INPUT] = "read-only",
                                      [TENSOR_OUTPUT] = "output; holds garbage",
                                      [TENSOR_INOUT] = "in-out; holds what is to be changed"};
    bool special = false;
    for (int t = 0; problem->tensors[t].name; t++) {
        const struct tensor *tensor = &problem->tensors[t];
        fprintf(out, " *   %-12s %s %s, %s\n", tensor->name, dtype_row(tensor->dtype)->name, tensor->shape,
                use[tensor->role]);
        if (tensor->layout)
            fprintf(out, " *   %-12s %s\n", "", tensor->layout);
        special = special || tensor->layout;
    }
    fprintf(
        out,
        " *\n * Row-major, dense, aligned to 16 bytes%s. Return 0, or nonzero to refuse a configuration.\n",
        special ? ", where nothing else is said" : "");
}

/* Types that C lacks: names for those of CUDA, and for their bits elsewhere. */
static void print_types(FILE *out, const struct problem *problem)
{
    const char *last = "";
    fprintf(out, "#include <stdint.h>\n%s\n#ifdef __CUDACC__\n",
            has_bool(problem) ? "#include <stdbool.h>\n" : "");
    for (int i = 0; i < DTYPE_COUNT; i++) {
        const struct dtype_row *row = dtype_row((enum dtype)i);
        if (!row->in_cuda || !has_dtype(problem, (enum dtype)i))
            continue;
        if (strcmp(last, row->cuda_header) != 0)
            fprintf(out, "#include <%s>\n", row->cuda_header);
        fprintf(out, "typedef %s %s;\n", row->in_cuda, row->in_c);
        last = row->cuda_header;
    }
    fprintf(out, "#define UNSEEN_STREAM cudaStream_t\n#else\n");
    for (int i = 0; i < DTYPE_COUNT; i++) {
        const struct dtype_row *row = dtype_row((enum dtype)i);
        if (row->in_cuda && has_dtype(problem, (enum dtype)i))
            fprintf(out, "typedef uint%d_t %s; /* %s */\n", row->bits < 8 ? 8 : row->bits, row->in_c,
                    row->bits < 8 ? "two elements, the even one in the lower half" : "the bits");
    }
    fprintf(out, "#define UNSEEN_STREAM void * /* NULL on the host */\n#endif\n\n");
}

void header_write(FILE *out, const struct problem *problem)
{
    fprintf(out, "/* %s: %s\n *\n", problem->name, problem->summary);
    print_tensors(out, problem);
    fprintf(out, " * Declared arithmetic:\n");
    header_folded(out, " *   ", problem->arithmetic);
    fprintf(out, " */\n");
    print_types(out, problem);
    fprintf(out, "#ifdef __cplusplus\nextern \"C\"\n#endif\n");
    header_prototype(out, problem, "UNSEEN_STREAM ");
}
