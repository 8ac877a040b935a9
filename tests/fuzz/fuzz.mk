# The targets of libFuzzer (clang, libclang-rt-dev): build/fuzz/NAME each. Kept apart from all other objects.
FUZZ_CC ?= clang
FUZZ_CXX ?= clang++
FUZZ_TARGETS := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_FLAGS := -D_GNU_SOURCE -I. -MMD -MP -g -O1 -fno-omit-frame-pointer -fsanitize=address,undefined \
    -fno-sanitize-recover=undefined
FUZZ_TOOL := $(wildcard problems/*.c) $(PROBLEMS:%=problems/%/problem.c) $(wildcard gen/*/*.c) \
    $(filter-out %_host.c %/witness.c,$(wildcard reference/*.c)) $(wildcard reports/*/*.c) \
    $(wildcard $(foreach f,system device isolate build problem layout forbid task measure calibrate,verify/$(f)/*.c)) tests/fuzz/common.c \
    tests/fuzz/choose.c tests/fuzz/references.c
FUZZ_OBJ := $(patsubst %.c,build/fuzz/o/%.o,$(filter-out verify/runner/runner% %/invoke.c,$(FUZZ_TOOL))) build/fuzz/o/gen/random/pcg.o

# The runner is a program of its own, with functions that the tool has, too.
FUZZ_RUNNER := $(patsubst %.c,build/fuzz/o/%.o,tests/fuzz/common.c tests/fuzz/requests.c \
    $(filter-out verify/runner/runner.c,$(RUNNER_SRC)))

build/fuzz/o/verify/runner/runner_audit.o: $(BUILD)/runner/audit.so
build/fuzz/o/verify/runner/runner_audit.o: FUZZ_FLAGS += -DAUDIT_OBJECT='"$(BUILD)/runner/audit.so"'

build/fuzz/requests: build/fuzz/o/tests/fuzz/fuzz_requests.o $(FUZZ_RUNNER)
$(patsubst %,build/fuzz/%,$(filter-out requests,$(FUZZ_TARGETS))): build/fuzz/%: build/fuzz/o/tests/fuzz/fuzz_%.o \
    build/fuzz/o/tool.a

$(FUZZ_TARGETS:%=build/fuzz/%):
	@echo "  LINK  $@"
	@$(FUZZ_CXX) -fsanitize=fuzzer,address,undefined -o $@ $^ -lnettle -ljansson -lseccomp -lffi -lmpfr -lgmp -lpthread -ldl -lm

# Each target takes what it needs of it.
build/fuzz/o/tool.a: $(FUZZ_OBJ)
	@rm -f $@
	@ar rcs $@ $^

build/fuzz/o/%.o: %.c
	@mkdir -p $(@D)
	@echo "  CLANG $<"
	@$(FUZZ_CC) -std=c11 $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -DUNSEEN_GIT='"fuzz"' -DUNSEEN_MODULE_FLAGS='""' \
	    -DUNSEEN_MODULE_NVFLAGS='""' -c -o $@ $<

build/fuzz/o/%.o: %.cpp
	@mkdir -p $(@D)
	@echo "  CLANG $<"
	@$(FUZZ_CXX) -std=c++17 $(FUZZ_FLAGS) -c -o $@ $<
