"""Tests which clues the expressions of a candidate's code give (unseen_torch/clues). Needs no torch, and ends
with 1 where a clue is missing or surplus."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import clue_lines
from clue_lines import clues, compared, unnumbered

# One condition in a function f(x, k, n, m): its clues, without tiles.
CONDITIONS = {
    "k % 64 == 32": ["k % 64 == 32"],
    "32 <= k": ["k >= 32"],
    "3 < k <= n - 1": ["k > 3 and k <= n - 1"],
    "k == 3 and n >= 4": ["k == 3 and n >= 4"],
    "k == 3 or n >= 4": ["k == 3", "n >= 4"],
    "not (k < 1 or k <= 2 or k > 3 or k >= 4)": ["k >= 1 and k > 2 and k <= 3 and k < 4"],
    "1 > k and 2 >= k and 3 < k and 4 <= k": ["k < 1 and k <= 2 and k > 3 and k >= 4"],
    "a.b == 2 and a.c == 3 and a.d == 4 and a.e == 5 and a.f == 6 and a.g == 7 and a.h == 8": [
        "b == 2 and c == 3 and d == 4 and e == 5 and f == 6 and g == 7"
    ],
    "not (k == 3 or n >= 4)": ["k != 3 and n < 4"],
    "not (k == 3 and n >= 4)": ["k != 3", "n < 4"],
    "(k == 3 or k == 5) and n == 4": ["k == 3 and n == 4", "k == 5 and n == 4"],
    "k & 63 == 0": ["k % 64 == 0"],
    "k & 62 == 0": ["? == 0"],
    "(k < 3) & (n < 4)": ["k < 3 and n < 4"],
    "(k < 3) | (n < 4)": ["k < 3", "n < 4"],
    "k >> 3 < 2 << 4": ["k / 8 < 32"],
    "k // (n - (m - 1)) == 2**10": ["k / (n - (m - 1)) == 1024"],
    "(k + n) * 4 % 3 == 1": ["(k + n) * 4 % 3 == 1"],
    "-k > -5": ["-k > -5"],
    "k % 64": ["k % 64 != 0"],
    "not k % 64": ["k % 64 == 0"],
    "k in (64, 128)": ["k == 64", "k == 128"],
    "k not in {64, 128}": ["k != 64", "k != 128"],
    "k in SIZES": ["k == 96", "k == 192"],
    "k in TABLE": ["k == 7", "k == 9"],
    "k in range(8, 65)": ["k >= 8 and k < 65"],
    "(k, n) == (64, 128)": ["k == 64 and n == 128"],
    "(k, n) in [(1, 2), (3, 4)]": ["k == 1 and n == 2", "k == 3 and n == 4"],
    "x.shape == (64, 128)": ["? == 64 and ? == 128"],
    "x.shape[1] > 8192": ["? > 8192"],
    "x.size(-1) == 4": ["? == 4"],
    "len(x) == 4": ["? == 4"],
    "int(k) == 4": ["k == 4"],
    "self.cols % 8 != 0": ["cols % 8 != 0"],
    "args['K'] == 5": ["K == 5"],
    "triton.cdiv(k, 64) == 3": ["(k + 64 - 1) / 64 == 3"],
    "-(-k // 64) == 3": ["(k + 64 - 1) / 64 == 3"],
    "math.ceil(k / 64) == 3": ["(k + 64 - 1) / 64 == 3"],
    "triton.next_power_of_2(k) == 64": ["? == 64"],
    "max(k, 3) > n + 2": ["? > n + 2"],
    "k == LIMIT": ["k == 8192"],
    "k == n": ["k == n"],
    "(k := n) > 3": ["n > 3"],
    "k == 3 and x.is_contiguous() and n == 4": ["k == 3 and n == 4"],
    # no sizes
    "x.dtype == torch.float16": [],
    "x is None or k is not None": [],
    "k == None or k == True or k == 1.5 or k * 0.5 > 3": [],
    "x.device.type == 'cuda'": [],
    "x.ndim == 2 or x.dim() == 3 or len(x.shape) == 4": [],
    "x.shape[0] == x.shape[1]": [],
    "3 == 4": [],
    "self.k == other.k": [],
    "x.is_contiguous()": [],
    "k == 10**10**10 or k == 1 << 62 or k == 9999999999999999999": [],
    "k == " + " + ".join(["n"] * 60): [],
}

HEAD = "SIZES = (96, 192)\nTABLE = {7: f, 9: g}\nLIMIT = 8 * 1024\n"


class Conditions(unittest.TestCase):
    def test_each_condition_has_its_clues(self):
        for condition, expected in CONDITIONS.items():
            with self.subTest(condition):
                self.assertEqual(
                    compared(f"{HEAD}def f(x, k, n, m):\n    if {condition}:\n        pass\n"), expected
                )

    def test_conditions_stand_anywhere(self):
        for line in (
            "while k == 3: pass",
            "assert k == 3, 'so'",
            "y = 1 if k == 3 else 2",
            "y = [i for i in x if k == 3]",
            "y = tl.where(k == 3, a, b)",
            "y = k == 3",
            "y = lambda: k == 3",
            "return g(a=not k != 3)",
        ):
            with self.subTest(line):
                self.assertEqual(compared(f"def f(x, k):\n    {line}\n"), ["k == 3"])

    def test_a_branch_joins_the_enclosing_conditions(self):
        text = """def f(k, n, m):
    if k > 3 and n > 4:
        if m == 5:
            a = 1
        elif m == 6:
            b = 1
    else:
        c = 1 if m == 7 else 0
    even = n % 8 == 0
    if even:
        while m < 9:
            pass
"""
        self.assertEqual(
            [c for c in clues(text) if " tile " not in c],
            [
                "2: k > 3 and n > 4",
                "3: m == 5",
                "3: k > 3 and n > 4 and m == 5",
                "5: m == 6",
                "5: k > 3 and n > 4 and m == 6",
                "8: m == 7",
                "9: n % 8 == 0",
                "11: m < 9",
                "11: n % 8 == 0 and m < 9",
            ],
        )

    def test_at_most_six_terms_are_joined(self):
        text = "def f(a):\n" + "".join(
            "    " * (i + 1) + f"if a.b{i} == {i + 2} and a.c{i} > 1:\n" for i in range(5)
        )
        longest = compared(text + "    " * 6 + "pass\n")[-1]
        self.assertEqual(longest.count(" and "), 5)
        self.assertTrue(longest.endswith("b4 == 6 and c4 > 1"), longest)

    @unittest.skipIf(sys.version_info < (3, 10), "no match statement")
    def test_cases_are_comparisons(self):
        text = """def f(k, n):
    match k:
        case 3:
            pass
        case 4 | 5 if n > 6:
            if n < 9: pass
    match (k, n):
        case (1, 2): pass
        case _: pass
"""
        self.assertEqual(
            compared(text),
            [
                *("k == 3", "k == 4", "k == 5", "n > 6", "k == 4 and n > 6", "k == 5 and n > 6", "n < 9"),
                *("k == 4 and n > 6 and n < 9", "k == 5 and n > 6 and n < 9", "k == 1 and n == 2"),
            ],
        )

    def test_an_entry_of_a_dictionary_is_chosen_by_a_comparison(self):
        text = "T = {64: a, 128: b}\ndef f(n, m):\n    T.get(m, c)\n    return T[n]\n"
        self.assertEqual(compared(text), ["m == 64", "m == 128", "n == 64", "n == 128"])


class Definitions(unittest.TestCase):
    def found(self, *lines):
        body = "\n    ".join(lines)
        return compared(f"W = 4\ndef f(x, k):\n    {body}\n")

    def test_names_become_their_expressions(self):
        self.assertEqual(self.found("b = 16 * W", "if k % b == 0: pass"), ["k % 64 == 0"])
        self.assertEqual(self.found("r = k % 64", "t = r - 1", "if t == 3: pass"), ["k % 64 - 1 == 3"])
        self.assertEqual(self.found("a, b = 64, k", "if b % a == 1: pass"), ["k % 64 == 1"])

    def test_names_of_sizes_stay(self):
        self.assertEqual(self.found("M, N = x.shape", "if N % 64 == 1: pass"), ["N % 64 == 1"])
        self.assertEqual(self.found("N = x.shape[1]", "if N % 64 == 1: pass"), ["N % 64 == 1"])
        self.assertEqual(self.found("t = x.shape[1] // 64", "if t > 3: pass"), ["? / 64 > 3"])

    def test_names_with_two_values_stay(self):
        self.assertEqual(self.found("b = 16", "b = 32", "if k % b == 3: pass"), ["k % b == 3"])
        self.assertEqual(self.found("b = 16", "b *= 2", "if k % b == 3: pass"), ["k % b == 3"])
        self.assertEqual(self.found("global W", "W = 5", "if k % W == 3: pass"), ["k % W == 3"])

    def test_a_function_may_change_the_module_s_name(self):
        text = "W = 4\ndef f(k): return k % W == 3\ndef g(w):\n    global W\n    W = w\n"
        self.assertEqual(compared(text), ["k % W == 3"])

    def test_arguments_of_kernels_have_the_values_that_calls_give(self):
        text = "def f(k, B: tl.constexpr, C: 'tl.constexpr' = 4, *, D: tl.constexpr = 5):\n    return {}\n"
        text += "f(k, B=16)\n" * 9 + "f(k, B=32)\nf(k, B=n)\n"
        self.assertEqual(compared(text.format("k % B == 3")), ["k % 16 == 3", "k % 32 == 3"])
        self.assertEqual(compared(text.format("k > C * D")), ["k > 20"])
        self.assertEqual(compared(text.format("k % 7 == B % 7")), ["k % 7 == 2", "k % 7 == 4"])

    def test_definitions_are_bounded(self):
        chain = ["a0 = k - 1", *(f"a{i} = a{i - 1} - 1" for i in range(1, 12)), "if a11 == 3: pass"]
        self.assertEqual(self.found(*chain), ["a8 - 1 - 1 - 1 == 3"])
        self.assertEqual(self.found("a = b + 1", "b = a + 1", "if a == 64: pass"), ["a + 1 + 1 == 64"])
        wide = ["w = " + " + ".join([f"x.n{i}" for i in range(14)]), "if w + w == 3: pass"]
        self.assertTrue(all(len(line) < 96 + 5 for line in self.found(*wide)))

    def test_an_attribute_with_one_constant_is_that(self):
        text = "class A:\n    def __init__(self):\n        self.b = 48\n"
        self.assertEqual(
            compared(text + "    def f(self, n):\n        return n % self.b == 1\n"), ["n % 48 == 1"]
        )

    def test_indices_are_no_sizes(self):
        lines = ["o = tl.program_id(0) * 8 + tl.arange(0, 8)", "for i in range(k):", "    y = o < k"]
        self.assertEqual(self.found(*lines, "    z = i < k", "    if i == 0: pass"), [])
        self.assertEqual(self.found(*lines, "    z = o < 1000"), ["o < 1000"])


class Tiles(unittest.TestCase):
    def test_sizes_of_the_code(self):
        for text, expected in {
            "def f(x, b=128, c=1, d='x', e=2.5, g=True): pass": {"? tile 128"},
            "def f(x, *, b: tl.constexpr = 32): pass": {"? tile 32"},
            "f(x, BLOCK=64, num_warps=4, dim=2)": {"? tile 64", "? tile 4"},
            "k[(3, 1)](x, n, 128)": {"? tile 3", "? tile 128"},
            "f(x, 128)": set(),
            "C = {'BLOCK': 64, 'G': [8, 1]}": {"? tile 64", "? tile 8"},
            "B = 64 if big else 32": {"? tile 64", "? tile 32"},
            "for b in [16, 32]: pass": {"? tile 16", "? tile 32"},
            "for i in range(0, n, 48): pass": {"n tile 48"},
            "y = n // 64 + (m % 3)": {"n tile 64", "m tile 3"},
            "y = n >> 5": {"n tile 32"},
            "y = n & 31": {"n tile 32"},
            "y = n & 30": set(),
            "y = n // (4 * w)": {"n tile 4 * w"},
            "y = n // w": set(),
            "y = triton.cdiv(n + 1, 96)": {"n + 1 tile 96"},
            "y = -(-n // 96)": {"n tile 96"},
            "o = tl.program_id(0)\ny = o % 8": {"? tile 8"},
            "y = tl.arange(0, 256)": {"? tile 256"},
            "f(b=1 << 40)": set(),
            "f(b=1 << 39)": {"? tile 549755813888"},
        }.items():
            with self.subTest(text):
                self.assertEqual(unnumbered(text), expected)


if __name__ == "__main__":
    clue_lines.run()
