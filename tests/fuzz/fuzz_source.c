/* A problem's own files, copied under another name (unseen new). */
#include <string.h>

#include "fuzz.h"
#include "verify/problem/template.h"

static const char *keep(void *data, const char *file)
{
    (void)data, (void)file;
    return NULL;
}

static char *renamed(const char *text, bool shape, const char *to)
{
    char *copy = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&copy, &size);
    FUZZ_CHECK(out != NULL);
    if (shape)
        template_shape(out, text, "softmax", to);
    else
        template_source(out, text, "softmax", to, keep, NULL);
    FUZZ_CHECK(fclose(out) == 0);
    return copy;
}

/* Under its own name it stays as it is. Under another one each place grows by the difference. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    for (int shape = 0; shape < 2; shape++) {
        char *same = renamed(text, shape, "softmax"), *other = renamed(text, shape, "softmax_2");
        FUZZ_CHECK(strcmp(same, text) == 0 && (strlen(other) - strlen(text)) % 2 == 0);
        free(same);
        free(other);
    }
    free(text);
    return 0;
}
