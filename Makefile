# unseen: build, tests, demo. `make` needs no GPU; without nvcc everything for the host is built.
#
#   make             build/unseen and build/unseen-runner
#   make deps        install what is missing (apt, as root or with sudo)
#   make demo        deps, build, and three candidates of different verdicts
#   make check       deps, build, every test that needs no GPU, and parts of the battery and the zoo, chosen by
#                    the commit                                   [SANITIZE=1: ASan and UBSan]
#   make check-all   the same with the whole battery, the whole zoo and every mutant over the standard set
#   make check-gpu   the tests that need a GPU; skipped with a reason where there is none
#   make margins     how far honest programs stay inside the allowed error, and which mutants exceed it: the tables of
#                    the problems' pages (tests/honest/README.md)
#   make bench       what the tool's own parts cost
#   make bench-find  how many planted faults are found, how soon, against other ways of drawing; the first
#                    lines of tests/plant/find.c say what can be set
#   make fuzz        build/fuzz: targets of libFuzzer for every parser and both sides of the channel (clang and
#                    libclang-rt-dev; tests/fuzz/run.sh runs them)
#   make format      the layout of .clang-format for everything but kernels; make check-format: is it so already
#   make check-house which folder may include what, and how long files and functions may be (tests/house.sh)
#   make check-python the layout, lint and types of our Python (tests/lint_python.sh; `make check` runs it, too)
#   make check-prose how long the sentences of documents and comments may be (doc/writing.md)
#   make faults      build/faults: the known-bad kernels that are kept as patches of honest ones
#   make install     to $(DESTDIR)$(PREFIX), /usr/local unless PREFIX says otherwise; make uninstall takes it away again
#
# CPATH and LDFLAGS are respected; WERROR= keeps warnings from being errors; MISSING= goes on without what is missing; a CUDA
# Toolkit that refuses the system's gcc takes another one by NVCC_APPEND_FLAGS='-ccbin gcc-12'.

PREFIX ?= /usr/local
BUILD := build
CC ?= cc
CXX ?= c++

# --- what is installed ---------------------------------------------------------------------------
NVCC ?= $(firstword $(shell command -v nvcc 2>/dev/null) $(wildcard /usr/local/cuda/bin/nvcc))
ifneq ($(NVCC),)
CUDA_HOME ?= $(patsubst %/bin/nvcc,%,$(realpath $(NVCC)))
CUBLAS_MAJOR := $(patsubst libcublasLt.so.%,%,$(firstword $(filter-out %.so,$(notdir \
    $(wildcard $(patsubst %,$(CUDA_HOME)/%/libcublasLt.so.[0-9][0-9],lib64 targets/x86_64-linux/lib lib lib/x86_64-linux-gnu))))))
endif
GIT := $(shell git describe --always --dirty 2>/dev/null || echo unknown)

# Where libraries are depends on the distribution, so the linker is asked: $(call has_static,gmp) is not empty where there is a
# libgmp.a, $(call has_library,gmp) where -lgmp links at all, $(call has_header,gmp.h) where a header is found.
probe = $(shell echo 'int main(void){return 0;}' | $(CC) $(LDFLAGS) -x c -o /dev/null - $(1) 2>/dev/null && echo yes)
has_static = $(filter /%,$(shell $(CC) $(LDFLAGS) -print-file-name=lib$(1).a 2>/dev/null))
has_library = $(or $(call has_static,$(1)),$(call probe,-l$(1)))
# make 4.3 keeps the backslash of an escaped number sign in a function's argument, older ones need it: a variable suits both.
hash := \#
has_header = $(shell echo '$(hash)include <$(1)>' | $(2) -E -x $(3) - >/dev/null 2>&1 && echo yes)
has_program = $(shell command -v $(1) 2>/dev/null)
# -l options for libraries that are linked statically where there is a static one.
comma := ,
static_option = -Wl$(comma)-Bstatic $(1) -Wl$(comma)-Bdynamic
link_static = $(foreach l,$(1),$(if $(call has_static,$(l)),$(call static_option,-l$(l)),-l$(l)))

# Debian packages, and what each is known by: a program, a library or a header.
NEEDED := gcc=program:gcc g++=program:g++ make=program:make libmpfr-dev=library:mpfr libgmp-dev=library:gmp \
    libffi-dev=library:ffi libpcg-cpp-dev=cxx:pcg_random.hpp \
    libboost-math-dev=cxx:boost/math/distributions/students_t.hpp libjansson-dev=library:jansson \
    libseccomp-dev=library:seccomp libsqlite3-dev=library:sqlite3 nettle-dev=library:nettle check=library:check \
    libsubunit-dev=library:subunit patch=program:patch bubblewrap=program:bwrap clang-format=program:clang-format
package_of = $(firstword $(subst =, ,$(1)))
kind_of = $(firstword $(subst :, ,$(lastword $(subst =, ,$(1)))))
thing_of = $(lastword $(subst :, ,$(1)))
is_there = $(if $(filter program,$(call kind_of,$(1))),$(call has_program,$(call thing_of,$(1))),$(if \
    $(filter library,$(call kind_of,$(1))),$(call has_library,$(call thing_of,$(1))),$(call \
    has_header,$(call thing_of,$(1)),$(CXX),c++)))
# `make MISSING=` goes on whatever is missing.
MISSING := $(strip $(foreach n,$(NEEDED),$(if $(call is_there,$(n)),,$(call package_of,$(n)))))
# Names of the same elsewhere, for a message.
FEDORA := gcc gcc-c++ make mpfr-devel gmp-devel libffi-devel boost-devel jansson-devel libseccomp-devel sqlite-devel nettle-devel \
    check-devel subunit-devel patch bubblewrap clang-tools-extra (pcg-cpp: github.com/imneme/pcg-cpp)
ARCH := base-devel mpfr gmp libffi boost jansson libseccomp sqlite nettle check patch bubblewrap clang (pcg-cpp, subunit: AUR)

# --- flags -----------------------------------------------------------------------------------------
PROBLEMS := $(shell sed -n 's/^PROBLEM.\([A-Za-z0-9_]*\).*/\1/p' problems/registry.def)
# What is compiled from one reference header: problem:output, the output empty for reference.h.
judgements = $(1:%=%:) $(shell grep '^PROBLEM' $(2) | grep -o 'JUDGED.[A-Za-z0-9_]*, *[A-Za-z0-9_]*' | \
    sed 's/JUDGED.\([A-Za-z0-9_]*\), */\1:/')
symbol_of = $(patsubst %_,%,$(subst :,_,$(1)))
JUDGEMENTS := $(call judgements,$(PROBLEMS),problems/registry.def)
# `make WERROR=`: a compiler newer than ours may warn of more.
WERROR ?= -Werror
WARN := -Wall -Wextra -pedantic $(WERROR)
# A field that a table leaves out is zero, which is the default of every field.
WARN += -Wno-missing-field-initializers
CFLAGS ?= -O2
# What a problem is compiled with, here and by the tool itself where it lies in a folder of its author's.
MODULE := -std=c11 $(WARN) -D_GNU_SOURCE -fopenmp -ffp-contract=off -fno-math-errno
MODULE_NV := -O3 -std=c++17 -Xcompiler -Wall,-Wextra
BASE := $(MODULE) -I. -MMD -MP
CXXBASE := -std=c++17 -I. -Wall -Wextra $(WERROR) -O3 -fno-exceptions -MMD -MP
# By way of 9.0 where there is one: bytes of e4m3 are converted in hardware from 8.9 on, and in software when compiled for 8.0.
NVFLAGS := $(MODULE_NV) -I. -gencode=arch=compute_80,code=sm_80 '-gencode=arch=compute_90,code=[sm_90,compute_90]' -MMD -MP \
    -DUNSEEN_CUBLAS_MAJOR='"$(CUBLAS_MAJOR)"' -DUNSEEN_CUDA_HOME='"$(CUDA_HOME)"' -DHAVE_CUDA
WHOLE_MPFR := -Wl,--whole-archive -lmpfr -Wl,--no-whole-archive
LIBS := $(call link_static,jansson nettle sqlite3) \
    $(if $(call has_static,mpfr),$(call static_option,$(WHOLE_MPFR)),-lmpfr) $(call link_static,gmp)
# A problem that is compiled later (verify/problem/) finds the tool's functions in the tool, and all of MPFR; what the other
# libraries have stays inside, so that no driver that is loaded later meets it.
EXPORTS := -rdynamic -Wl,--exclude-libs,libjansson.a:libnettle.a:libsqlite3.a:libgmp.a:libstdc++.a:libgcc.a:libgcc_eh.a
SYSTEM_LIBS := -lpthread -ldl -lrt -lm
# Whatever calls a candidate: the runner, and tests that do so in their own process.
INVOKE_OBJ = $(BUILD)/verify/runner/invoke.o
INVOKE_LIBS := $(call link_static,ffi)
SECCOMP_LIBS := $(call link_static,seccomp)
CHECK_LIBS := $(call link_static,check subunit)
ifeq ($(SANITIZE),1)
BUILD := build/sanitize
BASE += -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -g -DSANITIZED
CXXBASE += -fsanitize=address,undefined -g
LDFLAGS += -fsanitize=address,undefined
endif
LINK := $(CXX) -fopenmp $(LDFLAGS) $(EXPORTS) -static-libstdc++ -static-libgcc
ifeq ($(SANITIZE),1)
LINK := $(CXX) -fopenmp $(LDFLAGS) $(EXPORTS)
endif

# --- sources ---------------------------------------------------------------------------------------
RUNNER_SRC := $(filter-out verify/runner/loader_audit.c,$(wildcard verify/runner/*.c)) verify/device/driver.c \
    $(addprefix verify/util/,defence.c flush.c packet.c)
MAIN_SRC := verify/cli/main.c
TOOL_SRC := $(wildcard problems/*.c) $(PROBLEMS:%=problems/%/problem.c) $(wildcard gen/*/*.c) \
    $(filter-out reference/enclosure_host.c reference/witness.c,$(wildcard reference/*.c)) \
    $(filter-out $(MAIN_SRC) $(wildcard verify/runner/*.c),$(wildcard verify/*/*.c)) \
    $(wildcard reports/*/*.c)
TOOL_OBJ := $(TOOL_SRC:%.c=$(BUILD)/%.o) $(BUILD)/gen/random/pcg.o $(BUILD)/verify/score/student.o \
    $(foreach j,$(JUDGEMENTS),$(BUILD)/reference/enclosure_host_$(call symbol_of,$(j)).o \
        $(BUILD)/reference/witness_$(call symbol_of,$(j)).o)
PLANT_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/plant/plant*.c))
BUGS_OBJ := $(BUILD)/tests/corpora/bugs/list.o
FIND_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/plant/find*.c)) $(BUGS_OBJ)
MARGIN_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(filter-out %_main.c,$(wildcard tests/honest/margins*.c)))
LOST_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(filter-out %/main.c %_shim.c %/test_lost.c,$(wildcard tests/nothing_lost/*.c)))
# Small problems for the forms of references that no problem of problems/ has: in the test binary only.
FORMS := $(shell sed -n 's/^PROBLEM.\([A-Za-z0-9_]*\).*/\1/p' tests/forms/forms.def)
FORM_JUDGEMENTS := $(call judgements,$(FORMS),tests/forms/forms.def)
FORM_OBJ := $(FORMS:%=$(BUILD)/tests/forms/%/problem.o) \
    $(foreach j,$(FORM_JUDGEMENTS),$(BUILD)/reference/enclosure_host_$(call symbol_of,$(j)).o \
        $(BUILD)/reference/witness_$(call symbol_of,$(j)).o)
# Problems of the tests' own, judged like any other.
FIXTURES := scaled_f16 scaled_i8 scaled_inout
FIXTURE_OBJ := $(BUILD)/tests/contract/scaled.o \
    $(FIXTURES:%=$(BUILD)/reference/enclosure_host_%.o) $(FIXTURES:%=$(BUILD)/reference/witness_%.o)
# A test stands at its module's path. It finds fixtures of several tests in tests/support by their bare names.
TEST_SRC := $(wildcard tests/*.c tests/support/*.c tests/*/test_*.c tests/*/*/test_*.c)
TEST_OBJ := $(TEST_SRC:%.c=$(BUILD)/%.o) $(PLANT_OBJ) $(BUGS_OBJ) $(MARGIN_OBJ)
# Targets of the fuzzer, for the suite that replays what it kept.
REPLAY_OBJ := $(patsubst TARGET(%),$(BUILD)/tests/fuzz/fuzz_%.o,$(shell grep '^TARGET' tests/fuzz/targets.def)) \
    $(patsubst %,$(BUILD)/tests/fuzz/%.o,common choose requests)
TEST_OBJ += $(REPLAY_OBJ) $(LOST_OBJ)
ifneq ($(NVCC),)
BASE += -DHAVE_CUDA -I$(CUDA_HOME)/include
CXXBASE += -isystem $(CUDA_HOME)/include
CUDA_OBJ := $(BUILD)/gen/inputs/fill_cuda.o $(BUILD)/gen/random/philox_curand.o \
    $(BUILD)/reference/precomputed_cuda.o $(BUILD)/verify/device/memory_cuda.o $(BUILD)/verify/device/device_cuda.o $(BUILD)/verify/device/peaks_cuda.o \
    $(foreach j,$(JUDGEMENTS),$(BUILD)/reference/enclosure_cuda_$(call symbol_of,$(j)).o)
TOOL_OBJ += $(CUDA_OBJ)
FORM_OBJ += $(foreach j,$(FORM_JUDGEMENTS),$(BUILD)/reference/enclosure_cuda_$(call symbol_of,$(j)).o)
FIXTURE_OBJ += $(FIXTURES:%=$(BUILD)/reference/enclosure_cuda_%.o)
# From NVIDIA's packages, conda, the HPC SDK, and apt.
CUDART := $(firstword $(wildcard $(patsubst %,$(CUDA_HOME)/%/libcudart_static.a,lib64 targets/x86_64-linux/lib lib \
    lib/x86_64-linux-gnu)) $(CUDA_HOME)/lib64/libcudart_static.a)
LIBS += $(CUDART)
endif


.PHONY: always all deps demo faults format check-format check-house check-prose check-python check check-all check-gpu margins bench bench-find install install-shared uninstall clean
.DELETE_ON_ERROR:

all: $(BUILD)/unseen $(BUILD)/unseen-runner $(BUILD)/libunseen-runner.so
ifeq ($(NVCC),)
	@echo "built for the host only: no nvcc was found (CUDA Toolkit); CUDA candidates cannot be verified"
else
	@echo "built with CUDA from $(CUDA_HOME)"
endif

# --- rules -----------------------------------------------------------------------------------------
ifneq ($(MISSING),)
ifeq ($(filter deps format demo check check-all check-gpu margins bench bench-find clean,$(MAKECMDGOALS)),)
$(error missing (names of Debian packages): $(MISSING) ---> run `make deps`; CPATH and LDFLAGS may name other folders; `make MISSING=` goes on)
endif
endif

deps:
ifneq ($(MISSING),)
	@command -v apt-get >/dev/null || { echo "missing (names of Debian packages): $(MISSING)"; \
	    echo "---> on Fedora: dnf install $(FEDORA)"; echo "     on Arch: pacman -S $(ARCH)"; exit 1; }
	@echo "installing: $(MISSING)"
	@sh -c 'S=; [ "$$(id -u)" = 0 ] || S=sudo; \
	    $$S apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$S apt-get install -y -qq \
	    --no-install-recommends $(MISSING) >/dev/null'
endif

$(BUILD)/unseen: $(MAIN_SRC:%.c=$(BUILD)/%.o) $(TOOL_OBJ)
	@echo "  LINK  $@"
	@$(LINK) -o $@ $^ $(LIBS) $(SYSTEM_LIBS)

$(BUILD)/unseen-runner: $(RUNNER_SRC:verify/%.c=$(BUILD)/runner/%.o)
	@echo "  LINK  $@"
	@$(CC) -fopenmp -Wl,--export-dynamic-symbol='__sanitizer_cov_trace_*' -o $@ $^ $(INVOKE_LIBS) $(SECCOMP_LIBS) $(SYSTEM_LIBS)

# The same for an interpreter that loads it (candidates in Python).
$(BUILD)/libunseen-runner.so: $(RUNNER_SRC:verify/%.c=$(BUILD)/runner/pic/%.o)
	@echo "  LINK  $@"
	@$(CC) -shared -o $@ $^ -Wl,--exclude-libs,ALL $(INVOKE_LIBS) $(SECCOMP_LIBS) $(SYSTEM_LIBS)

$(BUILD)/runner/pic/%.o: verify/%.c
	@mkdir -p $(@D)
	@echo "  CC    $< (library)"
	@$(CC) $(filter-out -fsanitize% -fno-sanitize%,$(BASE)) $(CFLAGS) -fPIC -fvisibility=hidden -c -o $@ $<

# What the runner's loader gets (--forbid): a part of the runner, and without any library.
$(BUILD)/runner/audit.so: verify/runner/loader_audit.c
	@mkdir -p $(@D)
	@echo "  CC    $<"
	@$(CC) -std=c11 $(WARN) -D_GNU_SOURCE -O2 -fPIC -shared -nostdlib -fno-stack-protector -fvisibility=hidden -o $@ $<
AUDIT_OBJ := $(BUILD)/runner/runner/runner_audit.o $(BUILD)/runner/pic/runner/runner_audit.o
$(AUDIT_OBJ): $(BUILD)/runner/audit.so
$(AUDIT_OBJ): BASE += -DAUDIT_OBJECT='"$(BUILD)/runner/audit.so"'

# The runner lives with the candidate: no sanitizer, which would take the faults that it reports.
$(BUILD)/runner/%.o: verify/%.c
	@mkdir -p $(@D)
	@echo "  CC    $<"
	@$(CC) $(filter-out -fsanitize% -fno-sanitize%,$(BASE)) $(CFLAGS) -c -o $@ $<

$(BUILD)/unseen-tests: $(TEST_OBJ) $(FORM_OBJ) $(FIXTURE_OBJ) $(INVOKE_OBJ) $(TOOL_OBJ) | faults $(BUILD)/nothing-lost-memory.so
	@echo "  LINK  $@"
	@$(LINK) -o $@ $^ $(INVOKE_LIBS) $(CHECK_LIBS) $(LIBS) $(SYSTEM_LIBS)

$(BUILD)/tests/%.o: BASE += -Itests/support

$(BUILD)/tests/fuzz/fuzz_%.o: BASE += -DLLVMFuzzerTestOneInput=$(notdir $*)

$(BUILD)/unseen-call: $(BUILD)/tests/sanitize/call.o $(INVOKE_OBJ) $(TOOL_OBJ)
	@echo "  LINK  $@"
	@$(LINK) -o $@ $^ $(INVOKE_LIBS) $(LIBS) $(SYSTEM_LIBS)

$(BUILD)/nothing-lost: $(BUILD)/tests/nothing_lost/main.o $(LOST_OBJ) $(TOOL_OBJ) | all $(BUILD)/nothing-lost-memory.so
	@echo "  LINK  $@"
	@$(LINK) -o $@ $(filter %.o,$^) $(LIBS) $(SYSTEM_LIBS)

$(BUILD)/nothing-lost-memory.so: tests/nothing_lost/memory_shim.c
	@mkdir -p $(@D)
	@$(CC) -O2 -D_GNU_SOURCE -fPIC -shared -o $@ $<

$(BUILD)/unseen-bench: $(BUILD)/tests/bench/bench.o $(TOOL_OBJ)
	@echo "  LINK  $@"
	@$(LINK) -o $@ $^ $(LIBS) $(SYSTEM_LIBS)

# Which conditions hold where, for the corpus of real bugs.
$(BUILD)/unseen-agree: $(BUILD)/tests/corpora/bugs/agree.o $(BUILD)/tests/plant/plant_steps.o $(TOOL_OBJ)
	@echo "  LINK  $@"
	@$(LINK) -o $@ $^ $(LIBS) $(SYSTEM_LIBS)

$(BUILD)/unseen-find: $(FIND_OBJ) $(PLANT_OBJ) $(TOOL_OBJ)
	@echo "  LINK  $@"
	@$(LINK) -o $@ $^ $(LIBS) $(SYSTEM_LIBS)

$(BUILD)/unseen-margins: $(BUILD)/tests/honest/margins_main.o $(MARGIN_OBJ) $(INVOKE_OBJ) $(TOOL_OBJ)
	@echo "  LINK  $@"
	@$(LINK) -o $@ $^ $(INVOKE_LIBS) $(LIBS) $(SYSTEM_LIBS)

$(BUILD)/verify/util/version.o: BASE += -DUNSEEN_GIT='"$(GIT)"'
$(BUILD)/verify/util/version.o: $(BUILD)/commit
# Touched only when the commit is another one.
$(BUILD)/commit: always
	@mkdir -p $(@D)
	@echo '$(GIT)' | cmp -s - $@ || echo '$(GIT)' > $@

$(BUILD)/verify/problem/compile.o: BASE += -DUNSEEN_MODULE_FLAGS='"$(MODULE)"' -DUNSEEN_MODULE_NVFLAGS='"$(MODULE_NV)"'

$(BUILD)/gen/inputs/fill_host.o: CFLAGS += -O3
# The search for rules counts bits; every x86 since 2008 has an instruction for it.
ifeq ($(shell uname -m),x86_64)
$(BUILD)/gen/hypotheses/%.o: CFLAGS += -mpopcnt
endif

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	@echo "  CC    $<"
	@$(CC) $(BASE) $(CFLAGS) -c -o $@ $<

$(BUILD)/%.o: %.cpp
	@mkdir -p $(@D)
	@echo "  CXX   $<"
	@$(CXX) $(CXXBASE) -c -o $@ $<

$(BUILD)/%.o: %.cu
	@mkdir -p $(@D)
	@echo "  NVCC  $<"
	@$(NVCC) $(NVFLAGS) -c -o $@ $<

# A known-bad kernel from its patch; what it is made from besides stands in FAULT.d. These hold no objects, so that
# a build with sanitizers takes the same.
FAULTS := $(foreach p,$(PROBLEMS),$(patsubst problems/$(p)/faults/%.patch,build/faults/$(p)/%, \
    $(wildcard problems/$(p)/faults/*.patch)))
define FAULT
build/faults/$(1)/%: problems/$(1)/faults/%.patch tests/fault.sh
	@sh tests/fault.sh $$< $$@
endef
$(foreach p,$(PROBLEMS),$(eval $(call FAULT,$(p))))

faults: $(FAULTS)

# The reference mathematics of every judgement, compiled three times: $(1) is the suffix of its symbols, $(2) the
# folder of the problem, $(3) its name, $(4) the output that the header judges by itself.
define REFERENCE
REF_$(1) := -DREF_PROBLEM=$(3) $(if $(4),-DREF_OUTPUT=$(4)) -DREF_HEADER='"$(2)/reference$(if $(4),_$(4)).h"'
$$(BUILD)/reference/enclosure_host_$(1).o: reference/enclosure_host.c $(2)/reference$(if $(4),_$(4)).h
	@mkdir -p $$(@D)
	@echo "  CC    $$< ($(1))"
	@$$(CC) $$(BASE) -O3 $$(REF_$(1)) -c -o $$@ $$<
$$(BUILD)/reference/witness_$(1).o: reference/witness.c $(2)/reference$(if $(4),_$(4)).h
	@mkdir -p $$(@D)
	@echo "  CC    $$< ($(1))"
	@$$(CC) $$(BASE) -O2 $$(REF_$(1)) -c -o $$@ $$<
$$(BUILD)/reference/enclosure_cuda_$(1).o: reference/enclosure_cuda.cu $(2)/reference$(if $(4),_$(4)).h
	@mkdir -p $$(@D)
	@echo "  NVCC  $$< ($(1))"
	@$$(NVCC) $$(NVFLAGS) -fmad=false $$(REF_$(1)) -c -o $$@ $$<
endef
problem_of = $(firstword $(subst :, ,$(1)))
output_of = $(word 2,$(subst :, ,$(1)))
$(foreach j,$(JUDGEMENTS),$(eval $(call REFERENCE,$(call symbol_of,$(j)),problems/$(call problem_of,$(j)),$(call problem_of,$(j)),$(call output_of,$(j)))))
$(foreach j,$(FORM_JUDGEMENTS),$(eval $(call REFERENCE,$(call symbol_of,$(j)),tests/forms/$(call problem_of,$(j)),$(call problem_of,$(j)),$(call output_of,$(j)))))
$(foreach f,$(FIXTURES),$(eval $(call REFERENCE,$(f),tests/contract,$(f),)))

include tests/fuzz/fuzz.mk
.PHONY: fuzz
fuzz: $(FUZZ_TARGETS:%=build/fuzz/%)

# --- what people run -------------------------------------------------------------------------------
# One compiler a processor, where nobody said how many.
PARALLEL = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))

demo:
	@$(MAKE) --no-print-directory deps
	@$(MAKE) --no-print-directory $(PARALLEL) all
	@sh tests/demo.sh $(BUILD)/unseen

# For the suites `python` and `oracle_task` only: a torch in an environment of its own, which stays until `make clean`.
.PHONY: build/venv
build/venv:
	@mkdir -p build
	@sh tests/torch.sh build/venv

# With SANITIZE=1 the suites run under AddressSanitizer and UBSan; the battery, too slow there, is left out.
# 41 shares no factor with the battery's 3 seeds, so that all seeds have their turn.
BATTERY_SHARE ?= 91
export BATTERY_SHARE
# A limit of Check's is for what hangs, and a busy machine hangs nothing.
CK_TIMEOUT_MULTIPLIER ?= 4
export CK_TIMEOUT_MULTIPLIER
check-all:
	@$(MAKE) --no-print-directory check BATTERY_SHARE=1
	$(BUILD)/unseen-tests mutants

check:
	@$(MAKE) --no-print-directory deps
	@$(MAKE) --no-print-directory check-format check-house check-prose
	@$(MAKE) --no-print-directory $(PARALLEL) all $(BUILD)/unseen-tests
	@sh tests/suites.sh $(BUILD)/unseen-tests $(if $(filter 1,$(SANITIZE)),,battery zoo)

check-gpu:
	@$(MAKE) --no-print-directory $(PARALLEL) all $(BUILD)/unseen-tests $(BUILD)/unseen-call
	@rm -f $(BUILD)/peaks.json; if $(BUILD)/unseen calibrate --device cuda --peaks $(BUILD)/peaks.json >/dev/null; then \
	    set -ex; $(BUILD)/unseen-tests gpu; sh tests/sanitize/run.sh $(BUILD); \
	    $(BUILD)/unseen-tests honest-cuda; BATTERY_SHARE=1 $(BUILD)/unseen-tests battery-cuda; $(BUILD)/unseen-tests zoo-cuda; \
	else echo "check-gpu: skipped, this machine has no usable GPU"; fi

# Kernels are laid out as their authors like, and patches are made of them.
FORMATTED := $(wildcard problems/*.[ch] problems/*/problem.c problems/*/*.h gen/*/*.c gen/*/*.h gen/*/*.cu gen/*/*.cpp \
    reference/*.c reference/*.h reference/*.cu verify/*/*.c verify/*/*.h verify/*/*.cu reports/*/*.c reports/*/*.h \
    $(foreach f,tests tests/* tests/*/*,$(wildcard $(f)/*.c $(f)/*.h)))
format:
	@clang-format -i $(FORMATTED)
check-format:
	@version=$$(clang-format --version 2>/dev/null | sed -n 's/.*version \([0-9]*\).*/\1/p'); \
	if [ "$$version" != 14 ]; then echo "check-format: skipped: clang-format $${version:-(none)} lays out otherwise than 14"; exit 0; fi; \
	clang-format --dry-run -Werror $(FORMATTED) || { echo "---> make format"; exit 1; }
check-house:
	@sh tests/house.sh
check-python:
	@sh tests/lint_python.sh build/venv
check-prose:
	@if command -v python3 >/dev/null; then python3 tests/prose.py --check --paths tests/prose.paths; \
	else echo "check-prose: skipped: there is no python3"; fi

bench:
	@$(MAKE) --no-print-directory $(PARALLEL) all $(BUILD)/unseen-bench
	$(BUILD)/unseen-bench

margins:
	@$(MAKE) --no-print-directory $(PARALLEL) all $(BUILD)/unseen-margins
	$(BUILD)/unseen-margins all

bench-find:
	@$(MAKE) --no-print-directory $(PARALLEL) all $(BUILD)/unseen-find
	$(BUILD)/unseen-find

# Under share/unseen the folders are as they are here: a problem of one's own is compiled with problems/ and reference/, and
# `unseen new` copies from problems/ and shapes/.
SHARED := $(wildcard doc/schema/*.json shapes/* problems/*.h problems/dtype.def reference/*.h problems/*/adapter.py \
    $(addprefix verify/torch/unseen_torch/,*.py */*.py)) reference/enclosure_host.c reference/enclosure_cuda.cu \
    reference/witness.c $(foreach p,$(PROBLEMS),$(wildcard $(addprefix problems/$(p)/,problem.c *.h baseline.c \
    baseline.cu README.md)))
install: all install-shared
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/libexec/unseen
	install -m 755 $(BUILD)/unseen $(DESTDIR)$(PREFIX)/bin
	install -m 755 $(BUILD)/unseen-runner $(BUILD)/libunseen-runner.so $(DESTDIR)$(PREFIX)/libexec/unseen
	install -d $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/doc/unseen \
	    $(DESTDIR)$(PREFIX)/share/bash-completion/completions $(DESTDIR)$(PREFIX)/share/zsh/site-functions \
	    $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	install -m 644 doc/install/unseen.zsh $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_unseen
	install -m 644 doc/install/unseen.fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	sh doc/install/man.sh $(BUILD)/unseen >$(DESTDIR)$(PREFIX)/share/man/man1/unseen.1
	sh doc/install/completion.sh $(BUILD)/unseen >$(DESTDIR)$(PREFIX)/share/bash-completion/completions/unseen
	install -m 644 LICENSE README.md CHANGELOG.md doc/*.md doc/*.svg $(DESTDIR)$(PREFIX)/share/doc/unseen

# What install has written. Under ~/.local/share/unseen lie failures that a user has frozen, too.
uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/unseen $(DESTDIR)$(PREFIX)/share/man/man1/unseen.1 \
	    $(addprefix $(DESTDIR)$(PREFIX)/share/,bash-completion/completions/unseen zsh/site-functions/_unseen fish/vendor_completions.d/unseen.fish)
	rm -rf $(DESTDIR)$(PREFIX)/libexec/unseen $(DESTDIR)$(PREFIX)/share/doc/unseen
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/share/unseen/,$(SHARED))
	find $(DESTDIR)$(PREFIX)/share/unseen -depth -type d -empty -delete

install-shared:
	install -d $(addprefix $(DESTDIR)$(PREFIX)/share/unseen/,$(sort $(dir $(SHARED))))
	@$(foreach d,$(sort $(dir $(SHARED))),install -m 644 $(foreach f,$(SHARED),$(if $(filter $(d),$(dir $(f))),$(f))) \
	    $(DESTDIR)$(PREFIX)/share/unseen/$(d) &&) true

clean:
	rm -rf build

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null) $(wildcard $(FAULTS:=.d))
