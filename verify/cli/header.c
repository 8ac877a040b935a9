#include "header.h"

#include <string.h>

static const char *c_type(enum dtype dtype)
{
    static const char *const name[] = {
        [DTYPE_F32] = "float",   [DTYPE_BF16] = "unseen_bf16", [DTYPE_E4M3] = "unseen_e4m3",
        [DTYPE_I32] = "int32_t", [DTYPE_I64] = "int64_t",      [DTYPE_U8] = "uint8_t",
        [DTYPE_F64] = "double",  [DTYPE_F16] = "unseen_f16",   [DTYPE_E5M2] = "unseen_e5m2",
        [DTYPE_I8] = "int8_t",   [DTYPE_BOOL] = "bool"};
    return name[dtype];
}

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
                c_type(problem->tensors[t].dtype), problem->tensors[t].name);
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
        fprintf(out, " *   %-12s %s %s, %s\n", tensor->name, dtype_name(tensor->dtype), tensor->shape,
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

static void print_types(FILE *out, const struct problem *problem)
{
    const bool f16 = has_dtype(problem, DTYPE_F16), e5m2 = has_dtype(problem, DTYPE_E5M2);
    fprintf(out,
            "#include <stdint.h>\n%s\n"
            "#ifdef __CUDACC__\n#include <cuda_bf16.h>\n#include <cuda_fp8.h>\n%s"
            "typedef __nv_bfloat16 unseen_bf16;\ntypedef __nv_fp8_e4m3 unseen_e4m3;\n%s%s"
            "#define UNSEEN_STREAM cudaStream_t\n#else\n"
            "typedef uint16_t unseen_bf16; /* the bits */\ntypedef uint8_t unseen_e4m3;  /* the bits */\n%s%s"
            "#define UNSEEN_STREAM void *   /* NULL on the host */\n#endif\n\n",
            has_bool(problem) ? "#include <stdbool.h>\n" : "", f16 ? "#include <cuda_fp16.h>\n" : "",
            f16 ? "typedef __half unseen_f16;\n" : "", e5m2 ? "typedef __nv_fp8_e5m2 unseen_e5m2;\n" : "",
            f16 ? "typedef uint16_t unseen_f16;  /* the bits */\n" : "",
            e5m2 ? "typedef uint8_t unseen_e5m2;  /* the bits */\n" : "");
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
