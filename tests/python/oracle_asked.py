"""Shared by the tests of unseen_torch/oracle: one-line modules, their graphs, and the judge's answers
about them."""

import logging
import os
import sys
import warnings

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)
here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, "..", "..", "verify", "torch"), here]

import torch
from torch import nn
from unseen_torch.oracle import evaluate, returned
from unseen_torch.oracle import graph as graphs
from unseen_torch.oracle.number import Unsupported, distance

F = torch.nn.functional
torch.set_num_threads(1)


class Plain(nn.Module):
    """A function of tensors as a module."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


def drawn(*shape, seed=1, size=1.0):
    return size * torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def positive(*shape):
    return drawn(*shape).abs() + 0.1


TRACED = {}  # tracing is what takes time


def traced(model, inputs):
    key = id(model.function) if isinstance(model, Plain) else id(model)
    if key not in TRACED:
        TRACED[key] = (graphs.trace(model, inputs), model)
    return TRACED[key][0]


def told(model, inputs, seed=1):
    """(graph, state, the judge's answers)."""
    graph = traced(model, inputs)
    state = {k: v.detach().clone() for k, v in graphs.state_of(model).items()}
    with torch.no_grad():
        return graph, state, evaluate.answer(graph, state, inputs, seed)


def passes(judged, out):
    out = list(out) if isinstance(out, (tuple, list)) else [out]
    if any(g.shape != j.want.shape for j, g in zip(judged, out)):
        return False
    return all(
        bool((distance(g, want) <= j.allowed).all())
        for j, g, want in zip(judged, out, returned.wanted(judged, out))
    )


x, w, b = drawn(6, 40), drawn(40, 24, seed=2), drawn(24, seed=3)


def refusal(model, inputs):
    try:
        return traced(model, inputs).random() or told(model, inputs)[2][0].dropped or ""
    except Unsupported as why:
        return str(why)
