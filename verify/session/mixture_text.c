/* Text form of a blend, used beside a configuration line by `unseen check --values`. */
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
    const struct problem *problem = m->own_config.problem;
    size_t used = 0;
    for (int i = 0; problem->axes[i].name && used < size; i++)
        if (m->own_config.value[i] != m->other_config.value[i])
            used += (size_t)snprintf(text + used, size - used, "%s=%s ", problem->axes[i].name,
                                     problem_choice(problem, i, m->other_config.value[i]));
    if (used < size)
        used +=
            (size_t)snprintf(text + used, size - used, "seed=%llu", (unsigned long long)m->other_config.seed);
    if (m->other_content > 0 && used < size)
        used += (size_t)snprintf(text + used, size - used, " content=%d", m->other_content);
    return used;
}

/* Nine digits reproduce an fp32 number exactly. */
static size_t format_clip(const struct mix *mix, char *text, size_t size)
{
    const struct clip *clip = mix->clip;
    return (size_t)snprintf(text, size, " clip=%s:%.9g:%.9g",
                            mix->of->own_config.problem->tensors[clip->tensor].name, clip->low, clip->high);
}

bool mix_format(const struct mix *mix, char *text, size_t size)
{
    size_t used = mix_format_other(mix->of, text, size);
    if (used < size && mix->of->own_content > 0)
        used += (size_t)snprintf(text + used, size - used, " own=%d", mix->of->own_content);
    if (used < size && mix->clip)
        used += format_clip(mix, text + used, size - used);
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

/* Parses a number, or "low..last". */
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

/* Parses the name of a blended tensor, up to one of `ends`; returns its index, or -1. */
static int read_tensor(const struct mixture *m, const char *word, const char *ends)
{
    char name[64];
    const size_t length = strcspn(word, ends);
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : 0), word);
    const int t = problem_tensor_index(m->own_config.problem, name);
    return t >= 0 && m->own_values[t] ? t : -1;
}

static int refuse_tensor(const struct mixture *m, const char *word, char *why, size_t size)
{
    return refuse(why, size,
                  "%.60s: no tensor of that name has values that can be mixed\n"
                  "---> `unseen describe %s` lists its tensors; tables, lengths and outputs are never mixed",
                  word, m->own_config.problem->name);
}

/* "keep=x[0,4..7]" */
static int read_box(const struct mixture *m, const char *word, struct box *box, char *why, size_t size)
{
    const char *const text = word + strlen("keep="), *p = text + strcspn(text, "[");
    const int t = read_tensor(m, text, "[");
    if (t < 0)
        return refuse_tensor(m, word, why, size);
    const struct instance_tensor *tensor = &m->own.tensor[t];
    const char *const name = m->own_config.problem->tensors[t].name;
    bool ok = *p == '[';
    p += ok;
    *box = (struct box){.tensor = t};
    for (int d = 0; d < tensor->rank && ok; d++)
        ok = (d == 0 || *p++ == ',') && read_range(&p, &box->low[d], &box->high[d]) &&
             box->low[d] < box->high[d] && box->high[d] <= tensor->dim[d];
    if (!ok || strcmp(p, "]") != 0)
        return refuse(why, size,
                      "%.60s; an index or a range FIRST..LAST for each of the %d dimensions of %s was "
                      "expected, inside of it\n---> write keep=%s[0,4..7], without blanks",
                      word, tensor->rank, name, name);
    return 0;
}

/* "clip=g:-1:inf" */
static int read_clip(const struct mixture *m, const char *word, struct clip *clip, char *why, size_t size)
{
    const char *const text = word + strlen("clip=");
    char *low = NULL, *high = NULL;
    *clip = (struct clip){.tensor = read_tensor(m, text, ":")};
    if (clip->tensor < 0)
        return refuse_tensor(m, word, why, size);
    const struct tensor *tensor = &m->own_config.problem->tensors[clip->tensor];
    if (dtype_is_whole(tensor->dtype))
        return refuse(why, size,
                      "%.60s; a tensor of floating-point numbers was expected, and %s has whole ones\n"
                      "---> name another one, or the elements with keep=",
                      word, tensor->name);
    const char *p = text + strlen(tensor->name);
    clip->low = *p == ':' ? strtod(p + 1, &low) : 0;
    clip->high = low && low > p + 1 && *low == ':' ? strtod(low + 1, &high) : 0;
    if (!high || high == low + 1 || *high != '\0' || !(clip->low <= clip->high))
        return refuse(why, size,
                      "%.60s; clip=%s:LOW:HIGH was expected, two numbers, the first not above the second\n"
                      "---> write clip=%s:-1:inf to raise all of %s that is below -1",
                      word, tensor->name, tensor->name, tensor->name);
    return 0;
}

/* The parts of the text other than keep= and clip=. */
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

/* Parses "decay=long": a different value of any choice axis. */
static bool read_choice(const char *word, struct config *config)
{
    const struct axis *axis = config->problem->axes;
    for (int i = 0; axis[i].name; i++) {
        const size_t length = strlen(axis[i].name);
        if (axis[i].kind != AXIS_CHOICE || strncmp(word, axis[i].name, length) != 0 || word[length] != '=')
            continue;
        const int choice = problem_choice_index(config->problem, i, word + length + 1);
        if (choice < 0)
            return false;
        config->value[i] = choice;
        return true;
    }
    return false;
}

static int read_word(const char *word, struct words *words, char *why, size_t size)
{
    const int input = problem_input_axis(words->other.problem);
    const char *const axis = input >= 0 ? words->other.problem->axes[input].name : "";
    if (strncmp(word, "keep=", 5) == 0 || strncmp(word, "clip=", 5) == 0 ||
        read_content(word, "own=", &words->own_content) ||
        read_content(word, "content=", &words->other_content) || read_seed(word, &words->other.seed) ||
        read_choice(word, &words->other))
        return 0;
    return refuse(
        why, size,
        "--values: '%.60s'; seed=NUMBER, %s%sAXIS=CHOICE, content=NUMBER, own=NUMBER, keep=TENSOR[..] or "
        "clip=TENSOR:LOW:HIGH was expected\n---> write them as the report does: 'seed=7 keep=x[0,4]'",
        word, axis, *axis ? "=CLASS, " : "");
}

/* The next word of the text. */
static const char *next_word(char **rest)
{
    return strtok_r(NULL, " \t", rest);
}

/* Parses a part that refers to tensors, which are known once the mixture is open. */
static int read_part(struct mixed *mixed, const char *word, char *why, size_t size)
{
    struct mix *mix = &mixed->mix;
    if (strncmp(word, "clip=", 5) == 0) {
        if (mix->clip)
            return refuse(why, size,
                          "%.60s: clip= once at the most\n---> write both bounds in one: clip=x:-1:1", word);
        mix->clip = &mixed->clip;
        return read_clip(&mixed->mixture, word, &mixed->clip, why, size);
    }
    if (strncmp(word, "keep=", 5) != 0)
        return 0;
    if (mix->keeps == MIXED_BOXES)
        return refuse(why, size, "--values: %d times keep= at the most\n---> join ranges: keep=x[0,4..7]",
                      MIXED_BOXES);
    return read_box(&mixed->mixture, word, &mixed->keep[mix->keeps++], why, size);
}

int mix_parse(const struct config *own, const char *text, struct mixed *mixed, char *why, size_t size)
{
    struct words words = {.other = *own};
    int result = 0;
    char *rest, *copy = strdup(text);
    *mixed = (struct mixed){.mix = {.of = &mixed->mixture, .keep = mixed->keep}};
    if (!copy)
        return refuse(why, size, "out of memory");
    for (const char *word = strtok_r(copy, " \t", &rest); word && result == 0; word = next_word(&rest))
        result = read_word(word, &words, why, size);
    if (result == 0 &&
        mixture_open(&mixed->mixture, own, words.own_content, &words.other, words.other_content) != 0)
        result = refuse(why, size,
                        "--values %.80s: not the shapes of the configuration, or out of memory\n"
                        "---> take a seed at which its tensors have the same shapes",
                        text);
    strcpy(copy, text);
    for (const char *word = strtok_r(copy, " \t", &rest); word && result == 0; word = next_word(&rest))
        result = read_part(mixed, word, why, size);
    free(copy);
    return result;
}
