"""Tests of unseen_torch/task: extents by expressions of the task's source. Run by the suite importing, or by
hand with any Python that has torch."""

import ast

from importing import imported, run
from unseen_torch.task import expression, written_extents

BLOCKS = """
import torch
from torch import nn
ROWS, COLS, BLOCK, GROUP = 8, 96, 16, 4


class Model(nn.Module):
    def __init__(self, block, group):
        super().__init__()
        self.block, self.group = block, group

    def forward(self, x, inner, outer):
        place = torch.arange(x.shape[0])
        block = place // self.block
        return x * inner[block] * outer[block // self.group]


def get_inputs():
    numel = ROWS * COLS
    blocks = -(-numel // BLOCK)
    return [torch.randn(numel), torch.rand(blocks), torch.rand((blocks + GROUP - 1) // GROUP)]


def get_init_inputs():
    return [BLOCK, GROUP]
"""


def divisions_within_one_another_come_from_the_source():
    task = imported(BLOCKS)
    names = [axis["name"] for axis in task["axes"]]
    assert {"ROWS", "COLS", "BLOCK", "GROUP"} <= set(names), names
    for sizes in ((8, 96, 16, 4), (7, 33, 16, 5), (1, 1, 9, 3), (50, 77, 3, 100)):
        at = dict.fromkeys(names, 1) | dict(zip(("ROWS", "COLS", "BLOCK", "GROUP"), sizes))
        numel = sizes[0] * sizes[1]
        blocks = -(-numel // sizes[2])
        want = [numel, blocks, -(-blocks // sizes[3])]
        assert [expression.evaluate(i["shape"][0], at) for i in task["inputs"]] == want, (
            sizes,
            task["inputs"],
        )


SOURCE = """
A, B, C = S_a, S_b, S_b
D = C * S_c
unknown = len(A)
E = unknown + 1
def helper():
    return A * 77
def get_inputs():
    half, C = D // 2, A % S_c
    n = int(math.ceil(half / B))
    m = cdiv(n, 3)
    return rand(m + C, E), rand(A / B), rand(-A)
"""


def assignments_are_followed_in_their_order():
    found = written_extents.expressions(ast.parse(SOURCE), "S_")
    assert "(((((((b * c) / 2) + b - 1)/b) + 3 - 1)/3) + (a % c))" in found, found
    assert not any("77" in text or "unknown" in text for text in found), found
    assert "(a / b)" not in found  # a quotient that is no whole number


def an_expression_must_hold_in_every_run():
    runs = [({"x": 4, "y": 2}, 9), ({"x": 5, "y": 2}, 11)]
    written = ["(a * b)", "((a * b) + one)", "(one + one)"]
    published = {"a": 4, "b": 2, "one": 1}
    assert written_extents.fitting(written, {"a": "x", "b": "y"}, published, runs) == "(x * y) + 1"
    assert written_extents.fitting(written[:1], {"a": "x", "b": "y"}, published, runs) is None
    assert written_extents.fitting(written, {"a": "x"}, published, runs) == "(x * 2) + 1"


if __name__ == "__main__":
    run(globals(), ("imported",))
