#include "own.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[4000];

void own_sh(const char *format, ...)
{
    char command[2000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    ck_assert_msg(system(command) == 0, "%s", command);
}

void own_copy(const char *problem)
{
    const char *const root = cli_repository(".");
    own_sh("mkdir %s && cp %s/problems/%s/*.[ch] %s/problems/%s/README.md %s && cp %s/shapes/%s.* %s",
           problem, root, problem, root, problem, problem, root, problem, problem);
}

void own_setup(void)
{
    char cache[1200];
    cli_setup();
    ck_assert(getcwd(cache, 1000) != NULL);
    strcat(cache, "/cache");
    setenv("XDG_CACHE_HOME", cache, 1);
    snprintf(path, sizeof path, "%s", getenv("PATH"));
    own_copy("softmax");
}

void own_teardown(void)
{
    setenv("PATH", path, 1);
    cli_teardown();
}

void own_keep_report(const char *file)
{
    own_sh("grep -v -e ', built in ' -e 'one configuration may have at most' -e '[0-9] s$' out.txt "
           "| sed -e "
           "'/^  ceilings /,/^  arithmetic "
           "/{/^  arith/!d}' "
           "-e 's,unseen check \\./,unseen check ,' >%s",
           file);
    own_sh("test $(wc -l <%s) -ge 10 && grep -q '^  arithmetic ' %s", file, file);
}

void own_wrap_cc(const char *before)
{
    char here[1000], text[6000];
    ck_assert(getcwd(here, sizeof here) != NULL);
    own_sh("mkdir -p bin");
    snprintf(text, sizeof text, "#!/bin/sh\necho \"$*\" >>%s/cc.log\n%s\nPATH='%s' exec cc \"$@\" -O0\n",
             here, before, path);
    cli_put("bin/cc", text);
    own_sh("chmod +x bin/cc; : >cc.log");
    snprintf(text, sizeof text, "%s/bin:%s", here, path);
    setenv("PATH", text, 1);
}

int own_compiled(void)
{
    char line[4000];
    int count = 0;
    FILE *log = fopen("cc.log", "re");
    ck_assert_ptr_nonnull(log);
    while (fgets(line, sizeof line, log))
        count += strstr(line, " -c ") != NULL;
    fclose(log);
    own_sh(": >cc.log");
    return count;
}
