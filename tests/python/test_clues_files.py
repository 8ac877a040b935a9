"""Tests the clues of whole candidates, and the process that reads them (unseen_torch/clues). Needs no torch,
and ends with 1 where a test fails."""

import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import clue_lines
from clue_lines import clues, collected, torch_folder, unnumbered
from unseen_torch.clues import collect

START = os.path.join(torch_folder, "unseen_torch", "__main__.py")

SOFTMAX = '''import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(out, x, in_stride, out_stride, n_rows, n_cols, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK_SIZE)
    mask = offs < n_cols
    value = tl.load(x + row * in_stride + offs, mask=mask, other=-float("inf"))
    top = tl.exp(value - tl.max(value, axis=0))
    tl.store(out + row * out_stride + offs, top / tl.sum(top, axis=0), mask=mask)


def softmax(x):
    """Row-wise softmax."""
    n_rows, n_cols = x.shape
    BLOCK_SIZE = triton.next_power_of_2(n_cols)
    num_warps = 4
    if BLOCK_SIZE >= 2048:
        num_warps = 8
    if BLOCK_SIZE >= 4096 and n_rows % 2 == 0:
        num_warps = 16
    if n_cols > 65536 or x.dtype != torch.float32:
        return torch.softmax(x, dim=-1)
    out = torch.empty_like(x)
    softmax_kernel[(n_rows,)](
        out, x, x.stride(0), out.stride(0), n_rows, n_cols, BLOCK_SIZE=BLOCK_SIZE, num_warps=num_warps
    )
    return out
'''

MATMUL = """import torch, triton
import triton.language as tl


def configs():
    return [
        triton.Config({"BLOCK_M": 128, "BLOCK_K": 64, "GROUP_M": 8}, num_stages=3, num_warps=8),
        triton.Config({"BLOCK_M": 64, "BLOCK_K": 32, "GROUP_M": 8}, num_stages=4, num_warps=4),
    ]


@triton.autotune(configs=configs(), key=["M", "N", "K"])
@triton.heuristics({"EVEN_K": lambda args: args["K"] % args["BLOCK_K"] == 0})
@triton.jit
def matmul_kernel(a, b, c, M, N, K, BLOCK_M: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M, EVEN_K):
    pid = tl.program_id(axis=0)
    num_pid_m = tl.cdiv(M, BLOCK_M)
    group = pid // (GROUP_M * num_pid_m)
    offs_k = tl.arange(0, BLOCK_K)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        if EVEN_K:
            x = tl.load(a)
        else:
            x = tl.load(a, mask=offs_k[None, :] < K - k * BLOCK_K, other=0.0)
    if K >= 4096:
        c = tl.where(k == 0, c, x)


def matmul(a, b):
    M, K = a.shape
    K, N = b.shape
    assert K % 32 == 0, "K must be a multiple of 32"
    grid = lambda META: (triton.cdiv(M, META["BLOCK_M"]) * triton.cdiv(N, 128),)
    matmul_kernel[grid](a, b, c, M, N, K)
"""

INLINE = '''import torch
from torch.utils.cpp_extension import load_inline

THREADS = 256
source = r"""
#include <torch/extension.h>
__global__ void scale(float *x, int n) { if (n % 4 == 0) x[threadIdx.x] *= 2; }
"""
launch = f"""
void launch(float *x, int n) {{ scale<<<(n + {THREADS} - 1) / {THREADS}, {THREADS}>>>(x, {count}); }}
"""
module = load_inline("m", cpp_sources="void launch(float *x, int n);", cuda_sources=[source, launch])


class ModelNew(torch.nn.Module):
    """Scales; not all of it is code (but it has a brace)."""

    def forward(self, x):
        if x.numel() < 1024:
            return x * 2
        return module.launch(x)
'''


class Candidates(unittest.TestCase):
    def test_softmax(self):
        self.assertEqual(
            set(clues(SOFTMAX)),
            {
                "20: ? tile 4",
                "21: BLOCK_SIZE >= 2048",
                "22: ? tile 8",
                "23: BLOCK_SIZE >= 4096 and n_rows % 2 == 0",
                "23: n_rows tile 2",
                "24: ? tile 16",
                "25: n_cols > 65536",
            },
        )

    def test_matmul(self):
        self.assertEqual(
            set(clues(MATMUL)),
            {
                *(f"7: ? tile {n}" for n in (128, 64, 8, 3)),
                *(f"8: ? tile {n}" for n in (32, 4)),
                "13: K % 64 == 0",
                "13: K % 32 == 0",
                "13: K tile 64",
                "13: K tile 32",
                "17: M tile 128",
                "17: M tile 64",
                "24: ? < K - k * 64",
                "24: ? < K - k * 32",
                "25: K >= 4096",
                "33: N tile 128",
            },
        )

    def test_texts_of_other_languages(self):
        texts = collected(INLINE).take_texts()
        self.assertEqual([line for line, _ in texts], [5, 9])
        self.assertTrue(texts[0][1].startswith("\n#include <torch"))
        self.assertEqual(
            texts[1][1],
            "\nvoid launch(float *x, int n) { scale<<<(n + 256 - 1) / 256, 256>>>(x, count); }\n",
        )
        self.assertEqual(collected("x = 'f() { g(); }'\n").take_texts(), [])
        self.assertEqual(unnumbered(INLINE), {"? tile 256", "? < 1024"})


class Process(unittest.TestCase):
    def run_on(self, *texts):
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, f"{i}.py") for i in range(len(texts))]
            for path, text in zip(paths, texts):
                with open(path, "wb") as file:
                    file.write(text if isinstance(text, bytes) else text.encode())
            begun = time.monotonic()
            done = subprocess.run(
                [sys.executable, "-I", "-B", START, "clues", *paths],
                capture_output=True,
                text=True,
                check=False,
            )
        self.seconds = time.monotonic() - begun
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_lines_are_records(self):
        self.assertEqual(
            self.run_on("# \\d\nx = '\\d'\n\nif n % 64 == 3: pass\n", "if n % 64 == 4: pass\n"),
            [
                {"file": "0.py"},
                {"file": "0.py", "line": 4, "terms": [{"subject": "n % 64", "relation": "==", "bound": "3"}]},
                {"file": "0.py", "line": 4, "terms": [{"subject": "n", "relation": "tile", "bound": "64"}]},
                {"file": "1.py"},
                {"file": "1.py", "line": 1, "terms": [{"subject": "n % 64", "relation": "==", "bound": "4"}]},
            ],
        )

    def test_what_is_no_python_is_told(self):
        for text, words in {
            "a = 1\nb = 2\nif :\n": "line 3: invalid syntax",
            b"x = 1\0\n": "null byte",
            b"\xff\xfe\x80": "line ",
            "x = " + "(" * 300: "too many nested parentheses",
            "x = " + "-" * 90000 + "1": "line 0: ",
            "x = 1" + "+1" * 90000: "line 0: ",
        }.items():
            with self.subTest(text[:20]):
                records = self.run_on(text)
                self.assertEqual(len(records), 2)
                self.assertIn(words, records[1]["error"])

    def test_no_more_clues_than_the_reader_takes(self):
        records = self.run_on("".join(f"if a == {i}: pass\n" for i in range(5000)), "if b == 7: pass\n")
        self.assertEqual(sum("terms" in r for r in records), collect.MOST_CLUES)
        self.assertEqual(records[-1], {"truncated": True})

    def test_long_files_end_soon(self):
        for text in (
            "x = [" + "7, " * 1700000 + "]\n",
            "".join(f"x{i} = {i % 9}\n" for i in range(400000)),
            "if a in (1, 2, 3, 4, 5, 6, 7, 8, 9) and b in (1, 2, 3, 4, 5, 6, 7): pass\n" * 70000,
            '"""\n' + "a long text, with lines at the left\n" * 140000 + '"""\n',
        ):
            with self.subTest(text[:20]):
                records = self.run_on(text)
                self.assertEqual(records[-1], {"truncated": True})
                self.assertLess(self.seconds, 20)  # 2 s on a machine that is not busy

    def test_of_a_long_file_the_first_statements_are_read(self):
        records = self.run_on("if k == 77: pass\n" + "x = 7\n" * 200000)
        self.assertIn("77", json.dumps(records))

    def test_deep_nesting_hides_nothing_else(self):
        deep = "x = " + "not " * 600 + "a[" + "b[" * 80 + "0" + "]" * 81 + " == 3\n"
        records = self.run_on(deep + "if k == 77: pass\n")
        self.assertIn('"bound": "77"', json.dumps(records))

    def test_texts_are_bounded_and_sound(self):
        records = self.run_on("x = '__global__ \\ud800 \\0 " + "a" * 40 + "'\n")
        self.assertEqual([r["embedded"][:15] for r in records if "embedded" in r], ["__global__ ? \0 "])
        grown = "a = 10**17\nx = f'__global__ " + "{a}" * 15000 + "'\n"
        self.assertEqual(self.run_on(grown), [{"file": "0.py"}, {"truncated": True}])
        many = self.run_on(*["x = '__global__ " + "a" * 250000 + "'\n"] * 9)
        self.assertEqual(sum("embedded" in r for r in many), 8)
        self.assertEqual(many[-1], {"truncated": True})

    def test_the_time_of_a_file_is_bounded(self):
        records = self.run_on(("x = n" + " % 64" * 300 + "\n") * 150, "if k == 77: pass\n")
        self.assertIn('"bound": "77"', json.dumps(records))
        self.assertEqual(records[-1], {"truncated": True})

    def test_nothing_large_is_imported(self):
        code = f"import sys; sys.path.insert(0, {torch_folder!r}); import unseen_torch.clues"
        code += "; print(len(sys.modules))"
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True
        )
        self.assertLess(int(done.stdout), 150)


if __name__ == "__main__":
    clue_lines.run()
