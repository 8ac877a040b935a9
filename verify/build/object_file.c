#include "object_file.h"

#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct {
    unsigned machine;
    const char *name;
} machines[] = {{EM_X86_64, "x86-64"}, {EM_AARCH64, "aarch64"},    {EM_386, "x86"},
                {EM_ARM, "arm"},       {EM_PPC64, "ppc64"},        {EM_S390, "s390"},
                {EM_RISCV, "riscv"},   {EM_CUDA, "CUDA (a cubin)"}};

static const char *machine_name(unsigned machine, char *text, size_t size)
{
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
        if (machines[i].machine == machine)
            return machines[i].name;
    snprintf(text, size, "machine %u of the ELF list", machine);
    return text;
}

static unsigned machine_here(void)
{
#ifdef __aarch64__
    return EM_AARCH64;
#else
    return EM_X86_64;
#endif
}

const char *object_fault(const char *object, char *text, size_t size)
{
    Elf64_Ehdr header = {{0}};
    FILE *const file = fopen(object, "re");
    const size_t got = file ? fread(&header, 1, sizeof header, file) : 0;
    if (file)
        fclose(file);
    if (got < SELFMAG || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return "it does not begin as an ELF file does";
    if (got < sizeof header) {
        snprintf(text, size, "it ends after %zu bytes, inside its ELF header", got);
        return text;
    }
    if (header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB &&
        header.e_machine == machine_here()) {
        snprintf(text, size, "it is %s",
                 header.e_type == ET_EXEC  ? "a program"
                 : header.e_type == ET_REL ? "an object that was not linked (.o)"
                                           : "no shared object");
        return header.e_type == ET_DYN ? NULL : text;
    }
    const bool turned =
        (header.e_ident[EI_DATA] == ELFDATA2LSB) != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    const unsigned machine = turned ? __builtin_bswap16(header.e_machine) : header.e_machine;
    char other[40], here[40];
    snprintf(text, size, "it was built for %s%s, this is %s", machine_name(machine, other, sizeof other),
             header.e_ident[EI_CLASS] == ELFCLASS32 ? " (32 bits)" : "",
             machine_name(machine_here(), here, sizeof here));
    return text;
}
