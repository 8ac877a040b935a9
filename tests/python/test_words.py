"""Tests the part of an error's message that is printed (unseen_torch/error_text.py), and the message about
modules without a callable entry (binding.py). Needs no torch; ends with 1 where a sentence fails."""

import errno
import importlib.util
import io
import os
import socket
import sys
import types
import unittest


def sibling(name):
    path = os.path.join(
        os.path.dirname(os.path.abspath(__file__)), f"../../verify/torch/unseen_torch/{name}.py"
    )
    spec = importlib.util.spec_from_file_location(os.path.basename(name), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


words, binding = sibling("error_text"), sibling("runner/binding")

NVCC = (
    '/usr/local/cuda/bin/nvcc -MD -MF cuda.cuda.o.d -DTORCH_EXTENSION_NAME=x -DERROR="error: none" '
    + " ".join(f"-isystem /opt/venv/lib/python3.12/site-packages/torch/include/{i}" for i in range(20))
    + " -c /tmp/build/cuda.cu -o cuda.cuda.o"
)
BUILD = f"Error building extension 'x': [1/3] {NVCC}\nFAILED: [code=2] cuda.cuda.o\n{NVCC}\n"
END = (
    '\n1 error detected in the compilation of "/tmp/build/cuda.cu".\nninja: build stopped: subcommand failed.'
)
ADVICE = (
    "Search for `cudaErrorIllegalAddress' in https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html\n"
    "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace may be incorrect.\n"
    "For debugging consider passing CUDA_LAUNCH_BLOCKING=1\nCompile with `TORCH_USE_CUDA_DSA` to enable assertions."
)


class Mute(Exception):
    def __str__(self):
        raise RuntimeError


class Words(unittest.TestCase):
    def holds(self, message, *parts):
        found = words.shorten(message)
        self.assertLessEqual(len(found), words.ROOM)
        for part in parts:
            self.assertIn(part, found)
        return found

    def test_what_fits_is_kept(self):
        self.assertEqual(words.shorten("only powers of two\n  are taken\n"), "only powers of two are taken")
        self.assertEqual(words.shorten(""), "")

    def test_a_failed_build_says_what_the_compiler_said(self):
        error = '/tmp/build/cuda.cu(12): error: identifier "nothere" is undefined\n    nothere<<<1, 1>>>();\n    ^\n'
        found = self.holds(
            BUILD + error + END,
            "Error building extension 'x'",
            ' .. cuda.cu(12): error: identifier "nothere"',
        )
        self.assertNotIn("FAILED", found)
        self.assertNotIn("-isystem", found)

    def test_the_assembler_and_the_linker_too(self):
        self.holds(
            BUILD + "ptxas error   : Entry function 'k' uses too much shared data (0x10000 bytes)" + END,
            "uses too much shared data (0x10000 bytes)",
        )
        self.holds(
            BUILD
            + "/usr/bin/ld: /tmp/build/a.o: in function `f':\na.cpp:(.text+0x1): undefined reference to `g()'"
            + END,
            "undefined reference to `g()'",
        )
        self.holds(BUILD + "/usr/bin/ld: cannot find -lnothing: No such file" + END, "cannot find -lnothing")

    def test_the_first_errors_are_the_ones_kept(self):
        many = "".join(f"/tmp/build/a.cpp:{i}:1: error: mistake number {i} of many\n" for i in range(1, 90))
        found = self.holds(BUILD + many + END, "a.cpp:1:1: error: mistake number 1 of many")
        self.assertNotIn("number 80", found)

    def test_a_reason_that_stands_last_is_kept(self):
        source = "".join(f"    b{i} = tl.load(x + {i})\n" for i in range(60))
        self.holds(
            f"at 63:8:\n{source}    a = tl.arange(0, 3)\n        ^\narange's range must be a power of 2",
            "at 63:8:",
            "a = tl.arange(0, 3) arange's range must be a power of 2",
        )

    def test_advice_is_no_reason(self):
        self.assertEqual(
            words.shorten("CUDA error: an illegal memory access was encountered\n" + ADVICE),
            "CUDA error: an illegal memory access was encountered",
        )

    def test_one_long_line_keeps_its_beginning(self):
        self.assertTrue(self.holds("shapes differ: " + "1, " * 300).startswith("shapes differ: 1, 1,"))
        self.assertEqual(len(words.shorten("x" * 9_000_000)), words.ROOM)

    def test_quotes_of_a_compiler_survive_as_plain_ones(self):
        self.assertEqual(words.shorten("\u2018x\u2019 was not declared"), "'x' was not declared")

    def test_who_cannot_say_it_is_named(self):
        self.assertEqual(words.describe(Mute()), "Mute: its words cannot be had")
        self.assertEqual(words.describe(KeyError("k")), "KeyError: 'k'")
        self.assertEqual(words.describe(MemoryError()), "MemoryError")

    def test_a_failed_import_says_what_to_do(self):
        wrapped = RuntimeError("urlopen")
        wrapped.__cause__ = socket.gaierror(-3, "Temporary failure in name resolution")
        for error, is_short, part in (
            (ModuleNotFoundError("x"), False, "install it for the interpreter"),
            (wrapped, False, "there is no network here"),
            (OSError(errno.ENETUNREACH, "x"), False, "there is no network here"),
            (OSError(errno.EROFS, "x"), False, "the folder that TMPDIR names"),
            (MemoryError(), True, "--memory SIZE"),
            (SyntaxError("x"), False, "correct that line"),
            (Mute(), False, "by itself"),
        ):
            self.assertIn(part, words.advice(error, is_short))

    def test_a_module_without_what_is_called_says_what_it_has(self):
        def one(x):
            return x

        for has, part in (
            ({}, "and no other function; one of these was expected\n---> write it"),
            (
                {"ModelNew": 7},
                "the module's ModelNew is a int; a class or a function was expected\n---> define it",
            ),
            (
                {"one": one, "two": types.FunctionType(one.__code__, {})},
                "several others: one, two\n---> --entry",
            ),
        ):
            module = types.SimpleNamespace(__name__=__name__, **has)
            for each in has.values():
                if callable(each):
                    each.__module__ = __name__
            with self.assertRaises(binding.BadModule) as caught:
                binding.find_entry(module, "softmax", "")
            self.assertIn(part, str(caught.exception))


if __name__ == "__main__":
    told = io.StringIO()
    result = unittest.main(exit=False, testRunner=unittest.TextTestRunner(stream=told)).result
    if not result.wasSuccessful():
        sys.exit(told.getvalue())
