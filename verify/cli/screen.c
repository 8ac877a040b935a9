#include "screen.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "outputs.h"
#include "reports/github.h"
#include "reports/text.h"

/* NO_COLOR (no-color.org): present and not empty, whatever it says. */
static bool wants_colour(const struct options *options, FILE *out, bool dumb)
{
    const char *const no = getenv("NO_COLOR");
    if (options->color != COLOR_AUTO)
        return options->color == COLOR_ALWAYS;
    return isatty(fileno(out)) && !dumb && !(no && *no);
}

/* A candidate's words, which are printed before they can be looked at, must not end it. */
static void draw_token(char *token, size_t size)
{
    unsigned char bytes[16] = {0};
    const bool drawn = getrandom(bytes, sizeof bytes, 0) == (ssize_t)sizeof bytes;
    size_t used = 0;
    for (size_t i = 0; drawn && i < sizeof bytes && used + 3 < size; i++)
        used += (size_t)snprintf(token + used, size - used, "%02x", bytes[i]);
}

void screen_open(struct screen *screen, const struct options *options)
{
    const char *const term = getenv("TERM");
    const bool dumb = !term || !*term || strcmp(term, "dumb") == 0;
    *screen = (struct screen){.out = outputs_on_standard(options) ? stderr : stdout};
    screen->colour = wants_colour(options, screen->out, dumb);
    screen->progress = isatty(fileno(screen->out)) && !dumb;
    text_set_width(text_columns(fileno(screen->out)));
    if (!options->github)
        return;
    draw_token(screen->token, sizeof screen->token);
    github_quiet(screen->out, screen->token);
}

void screen_close(struct screen *screen)
{
    if (*screen->token)
        github_speak(screen->out, screen->token);
    *screen->token = '\0';
    fflush(screen->out);
}
