/* A mixture as text, beside a configuration line: what `unseen check --values` takes. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/contract/space.h"
#include "mixture.h"

/* --- writing --- */

static size_t format_box(const struct mixture *m, const struct box *box, char *text, size_t size)
{
    const struct instance_tensor *tensor = &m->own.tensor[box->tensor];
    size_t used = (size_t)snprintf(text, size, "%s[", m->own_config.problem->tensors[box->tensor].name);
    for (int d = 0; d < tensor->rank && used < size; d++) {
        const long long low = box->low[d], last = box->high[d] - 1;
        used += (size_t)snprintf(text + used, size - used, "%s%lld", d ? "," : "", low);
        if (last > low && used < size)
            used += (size_t)snprintf(text + used, size - used, "..%lld", last);
    }
    if (used < size)
        used += (size_t)snprintf(text + used, size - used, "]");
    return used;
}

static bool format_boxes(const struct mixture *m, const struct box *box, int count, const char *before,
                         const char *between, char *text, size_t size)
{
    size_t used = 0;
    for (int i = 0; i < count && used < size; i++) {
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? between : "", before);
        if (used < size)
            used += format_box(m, &box[i], text + used, size - used);
    }
    return used < size;
}

bool boxes_format(const struct mixture *m, const struct box *box, int count, char *text, size_t size)
{
    *text = '\0';
    return format_boxes(m, box, count, "", ", ", text, size);
}

size_t mix_format_other(const struct mixture *m, char *text, size_t size)
{
    const struct config *own = &m->own_config, *other = &m->other_config;
    const int input = problem_input_axis(own->problem);
    size_t used = 0;
    if (input >= 0 && own->value[input] != other->value[input])
        used = (size_t)snprintf(text, size, "%s=%s ", own->problem->axes[input].name,
                                problem_choice(own->problem, input, other->value[input]));
    if (used < size)
        used += (size_t)snprintf(text + used, size - used, "seed=%llu", (unsigned long long)other->seed);
    if (m->other_content > 0 && used < size)
        used += (size_t)snprintf(text + used, size - used, " content=%d", m->other_content);
    return used;
}

bool mix_format(const struct mix *mix, char *text, size_t size)
{
    size_t used = mix_format_other(mix->of, text, size);
    if (used < size && mix->of->own_content > 0)
        used += (size_t)snprintf(text + used, size - used, " own=%d", mix->of->own_content);
    if (used < size && mix->keeps > 0)
        used += (size_t)snprintf(text + used, size - used, " ");
    return used < size && mix->sets == 0 &&
           format_boxes(mix->of, mix->keep, mix->keeps, "keep=", " ", text + used, size - used);
}

/* --- reading --- */

static __attribute__((format(printf, 3, 4))) int refuse(char *why, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, size, format, arguments);
    va_end(arguments);
    return -1;
}

/* A number, or "low..last". */
static bool read_range(const char **p, int64_t *low, int64_t *high)
{
    char *end;
    errno = 0;
    if (**p < '0' || **p > '9')
        return false;
    *low = *high = strtoll(*p, &end, 10);
    if (strncmp(end, "..", 2) == 0 && end[2] >= '0' && end[2] <= '9')
        *high = strtoll(end + 2, &end, 10);
    *p = end;
    if (errno != 0 || *high == INT64_MAX)
        return false;
    ++*high;
    return true;
}

static int read_box(const struct mixture *m, const char *word, struct box *box, char *why, size_t size)
{
    const struct problem *problem = m->own_config.problem;
    char name[64];
    const size_t length = strcspn(word, "[");
    const char *p = word + length + (word[length] == '[');
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : 0), word);
    const int t = problem_tensor_index(problem, name);
    if (t < 0 || !m->own_values[t])
        return refuse(
            why, size,
            "keep=%.60s: no tensor of that name has values that can be mixed\n"
            "---> `unseen describe %s` lists its tensors; tables, lengths and outputs are never mixed",
            word, problem->name);
    const struct instance_tensor *tensor = &m->own.tensor[t];
    bool ok = word[length] == '[';
    *box = (struct box){.tensor = t};
    for (int d = 0; d < tensor->rank && ok; d++)
        ok = (d == 0 || *p++ == ',') && read_range(&p, &box->low[d], &box->high[d]) &&
             box->low[d] < box->high[d] && box->high[d] <= tensor->dim[d];
    if (!ok || strcmp(p, "]") != 0)
        return refuse(why, size,
                      "keep=%.60s; an index or a range FIRST..LAST for each of the %d dimensions of %s was "
                      "expected, inside of it\n---> write keep=%s[0,4..7], without blanks",
                      word, tensor->rank, name, name);
    return 0;
}

/* What a text says beside keep=. */
struct words {
    struct config other;
    int own_content, other_content;
};

/* "own=1" */
static bool read_content(const char *word, const char *name, int *content)
{
    enum { MOST_CONTENT = 1000 };
    const size_t length = strlen(name);
    char *end;
    if (strncmp(word, name, length) != 0 || word[length] < '0' || word[length] > '9')
        return false;
    const long number = strtol(word + length, &end, 10);
    *content = (int)number;
    return *end == '\0' && number <= MOST_CONTENT;
}

static bool read_seed(const char *word, uint64_t *seed)
{
    char *end;
    errno = 0;
    if (strncmp(word, "seed=", 5) != 0 || word[5] < '0' || word[5] > '9')
        return false;
    *seed = strtoull(word + 5, &end, 10);
    return *end == '\0' && errno == 0;
}

static bool read_class(const char *word, int input, struct config *config)
{
    const char *const axis = input >= 0 ? config->problem->axes[input].name : "";
    const size_t length = strlen(axis);
    if (input < 0 || strncmp(word, axis, length) != 0 || word[length] != '=')
        return false;
    const int choice = problem_choice_index(config->problem, input, word + length + 1);
    config->value[input] = choice;
    return choice >= 0;
}

static int read_word(const char *word, struct words *words, char *why, size_t size)
{
    const int input = problem_input_axis(words->other.problem);
    const char *const axis = input >= 0 ? words->other.problem->axes[input].name : "";
    if (strncmp(word, "keep=", 5) == 0 || read_content(word, "own=", &words->own_content) ||
        read_content(word, "content=", &words->other_content) || read_seed(word, &words->other.seed) ||
        read_class(word, input, &words->other))
        return 0;
    return refuse(why, size,
                  "--values: '%.60s'; seed=NUMBER, %s%scontent=NUMBER, own=NUMBER or keep=TENSOR[..] was "
                  "expected\n---> write them as the report does: 'seed=7 keep=x[0,4]'",
                  word, axis, *axis ? "=CLASS, " : "");
}

/* The words of a text one after the other. */
static const char *next_word(char **rest)
{
    return strtok_r(NULL, " \t", rest);
}

int mix_parse(const struct config *own, const char *text, struct mixture *m, struct box *keep, int most,
              struct mix *mix, char *why, size_t size)
{
    struct words words = {.other = *own};
    int result = 0;
    char *rest, *copy = strdup(text);
    *m = (struct mixture){0};
    *mix = (struct mix){.of = m, .keep = keep};
    if (!copy)
        return refuse(why, size, "out of memory");
    for (const char *word = strtok_r(copy, " \t", &rest); word && result == 0; word = next_word(&rest))
        result = read_word(word, &words, why, size);
    if (result == 0 && mixture_open(m, own, words.own_content, &words.other, words.other_content) != 0)
        result = refuse(why, size,
                        "--values %.80s: not the shapes of the configuration, or out of memory\n"
                        "---> take a seed at which its tensors have the same shapes",
                        text);
    strcpy(copy, text);
    for (const char *word = strtok_r(copy, " \t", &rest); word && result == 0; word = next_word(&rest)) {
        if (strncmp(word, "keep=", 5) != 0)
            continue;
        result = mix->keeps == most ? refuse(why, size, "--values: %d times keep= at the most", most)
                                    : read_box(m, word + 5, &keep[mix->keeps++], why, size);
    }
    free(copy);
    return result;
}
