/* Single elements of the last answer, in MPFR: the process sends its graph (exact.h). */
#include "oracle_internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void oracle_forget_graph(struct oracle *o)
{
    exact_close(o->exact);
    if (o->graph)
        munmap(o->graph, o->graph_bytes);
    o->exact = NULL;
    o->graph = NULL;
}

/* Maps a graph: the reply "graph NUMBERS TEXT" gives the bytes of both parts, and `fd` is a memory of sealed
 * size. */
static bool map_graph(struct oracle *o, int fd, char *text, size_t size)
{
    size_t numbers, length;
    struct stat status;
    const int sealed = fcntl(fd, F_GET_SEALS);
    if (sscanf(o->reply, "graph %zu %zu", &numbers, &length) != 2 || fstat(fd, &status) || sealed < 0 ||
        !(sealed & F_SEAL_SHRINK) || (uint64_t)status.st_size < numbers ||
        (uint64_t)status.st_size - numbers < length) {
        snprintf(text, size, "the graph that came is no graph");
        return false;
    }
    o->graph_bytes = (size_t)status.st_size;
    o->graph = mmap(NULL, o->graph_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (o->graph == MAP_FAILED)
        o->graph = NULL;
    o->exact = o->graph ? exact_open(o->graph, numbers, length, text, size) : NULL;
    return o->exact != NULL;
}

static enum oracle_status fetch_graph(struct oracle *o, char *text, size_t size)
{
    int fd = -1;
    struct oracle_answer said = {.text = ""};
    if (o->exact)
        return ORACLE_OK;
    const enum oracle_status told = oracle_tell(o, text, size);
    if (told != ORACLE_OK)
        return told;
    if (!o->process.pid) {
        snprintf(text, size, "the process that had the graph is gone");
        return ORACLE_UNTOLD;
    }
    const enum oracle_status status =
        oracle_exchange(&o->process, &o->options, "{\"graph\":1}", -1, o->reply, &fd, text, size);
    if (status != ORACLE_OK)
        return status;
    if (fd < 0) {
        const enum oracle_status why = oracle_read(o->options.problem, o->reply, &said);
        snprintf(text, size, "%s", said.text);
        return why == ORACLE_OK ? ORACLE_FAILED : why;
    }
    const bool ok = map_graph(o, fd, text, size);
    close(fd);
    if (!ok)
        oracle_forget_graph(o);
    return ok ? ORACLE_OK : ORACLE_FAILED;
}

enum oracle_status oracle_hear(struct oracle *o, int tensor, int64_t index, double *value, char *text,
                               size_t size)
{
    const enum oracle_status status = fetch_graph(o, text, size);
    if (status != ORACLE_OK)
        return status;
    int output = 0;
    for (int t = 0; t < tensor; t++)
        output += o->options.problem->tensors[t].role != TENSOR_INPUT;
    return exact_element(o->exact, output, index, value, text, size) ? ORACLE_OK : ORACLE_UNTOLD;
}
