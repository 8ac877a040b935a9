/* The re-created bug reports: their planted conditions stand in the clues of the preprocessed source. */
#include "source_fixture.h"

#include <ctype.h>
#include <glob.h>

#include "suites.h"

static const struct {
    const char *name, *clue;
} planted[] = {
    {"gemm_bf16_partials_of_a_long_k", "m * n >= 1024 and k >= 320 and k >= 3 * m and k >= 3 * n"},
    {"gemm_w4a16_half_tile", "n % 128 == 64"},
    {"rope_cache_tokens_on_grid_y", "tokens > 65535"},
    {"conv2d_bf16_even_kernel", "kw % 2 == 0"},
    {"conv2d_bf16_narrow_strided", "stride_w > 1 and c > 16 and w < 17"},
    {"conv2d_f32_winograd_of_squares",
     "kh == 3 and kw == 3 and stride_h == 1 and stride_w == 1 and dil_h == 1 and dil_w == 1"},
    {"gemm_f32_lower_half_of_a_tile", "k < 8 and k % 2 != 0 and n % 4 != 0"},
    {"attention_head_sizes", "head_dim == 128"},
    {"cross_entropy_default_index", "ignore_index != -100"},
    {"gemm_bf16_gemv_blocks", "m == 1 and k % 32 == 0 and k == 32"},
    {"moe_up_token_cap", "tokens > 256"},
    {"paged_attention_scores_in_shared_memory", "(longest + 512) * 4 > 49152"},
    {"softmax_row_in_shared_memory", "49152 / ((cols + 255) / 256 * 256 * 4) == 0"},
    {"rms_norm_two_rows_of_a_block", "(cols + 7) / 8 <= 32 and (cols + 7) / 8 <= 8"},
    {"kda_dead_rows", "t tile 64"},
    {"topk_rows_of_512", "rows >= 512"},
    {"paged_attention_partial_tile_of_16_pages", "(len + page_size - 1) / page_size * page_size >= 256"},
};

/* Clues of the file as the compiler sees it, each between line ends. */
static void clues_of_file(const char *path, char *out, size_t size)
{
    char command[512];
    snprintf(command, sizeof command, "${CC:-cc} -E -I. -Itests/corpora/bugs %s", path);
    FILE *const pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    static char text[1 << 20];
    const size_t length = fread(text, 1, sizeof text, pipe);
    ck_assert_msg(pclose(pipe) == 0 && length < sizeof text, "%s", command);
    struct clue_list list = {0};
    ck_assert_int_eq(source_clues(&list, text, length, path), 0);
    size_t used = (size_t)snprintf(out, size, "\n");
    for (int i = 0; i < list.count; i++) {
        char line[CLUE_MOST_TERMS * 2 * (CLUE_TEXT_SIZE + 8)];
        clue_format(&list.item[i], line, sizeof line);
        ck_assert_str_ne(list.item[i].file, "stdio.h");
        used += (size_t)snprintf(out + used, used < size ? size - used : 0, "%s\n", line);
    }
    ck_assert_msg(used < size && list.count > 0, "%s: %d clues", path, list.count);
    clue_list_clear(&list);
}

START_TEST(a_planted_condition_is_a_clue)
{
    static char found[1 << 16];
    char path[256], line[256];
    snprintf(path, sizeof path, "tests/corpora/bugs/%s.c", planted[_i].name);
    snprintf(line, sizeof line, "\n%s\n", planted[_i].clue);
    clues_of_file(path, found, sizeof found);
    ck_assert_msg(strstr(found, line), "%s: '%s' is none of%s", planted[_i].name, planted[_i].clue, found);
}
END_TEST

static bool has_number(const char *text, long number)
{
    for (const char *p = text; *p;)
        if (isdigit((unsigned char)*p) && (p == text || (!isalnum((unsigned char)p[-1]) && p[-1] != '_'))) {
            char *end;
            if (strtol(p, &end, 10) == number)
                return true;
            p = end;
        } else
            p++;
    return false;
}

/* Does the text have all numbers of the condition from 2 on? `count` is how many these are. */
static bool has_numbers(const char *text, const char *condition, int *count)
{
    bool all = true;
    *count = 0;
    for (const char *p = condition; *p && *p != '\n'; p++)
        if (isdigit((unsigned char)*p) && !isalnum((unsigned char)p[-1]) && p[-1] != '_' && atol(p) > 1) {
            ++*count;
            all &= has_number(text, atol(p));
        }
    return all;
}

/* Bugs whose condition follows from the code, but does not stand in it, are the rest. */
START_TEST(most_planted_constants_are_in_the_clues)
{
    static char found[1 << 16], text[1 << 14];
    int told = 0, numbered = 0;
    glob_t files;
    ck_assert_int_eq(glob("tests/corpora/bugs/*.c", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        FILE *const file = fopen(files.gl_pathv[i], "r");
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
        const char *const when = strstr(text, "\n// when:");
        if (!when)
            continue;
        int count;
        clues_of_file(files.gl_pathv[i], found, sizeof found);
        const bool all = has_numbers(found, when + 1, &count);
        numbered += count > 0;
        told += count > 0 && all;
    }
    globfree(&files);
    ck_assert_msg(numbered > 140 && told * 100 >= numbered * 70, "%d of %d conditions are told", told,
                  numbered);
}
END_TEST

TCase *inspect_bugs_case(void)
{
    TCase *tcase = tcase_create("bugs");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, a_planted_condition_is_a_clue, 0, sizeof planted / sizeof *planted);
    tcase_add_test(tcase, most_planted_constants_are_in_the_clues);
    return tcase;
}
