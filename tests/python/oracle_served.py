"""Tests of unseen_torch/oracle/serve.py that test_oracle.py runs: the messages of its process, and its
memory."""

import os
import resource
import types

import oracle_pieces
import torch
from unseen_torch.oracle import serve


def what_a_gpu_has_no_memory_for_is_answered_on_the_host():
    server, asked = object.__new__(serve.Server), []
    server.torch, server.task = torch, types.SimpleNamespace(device="cuda")

    def answer(question):
        asked.append(server.task.device)
        if asked[-1] == "cuda" or not question["room"]:
            raise RuntimeError(
                question["words"] + "\nCompile with `TORCH_USE_CUDA_DSA` to enable device-side assertions."
            )
        return "ok"

    server.answer = answer
    short = "CUDA error: out of memory"  # a context or a library wanted it, not torch's allocator
    assert server.attempt({"room": True, "words": short}) == "ok"
    assert server.attempt({"room": False, "words": short}).startswith("short RuntimeError: " + short)
    assert server.attempt({"room": False, "words": "CUDA error: an illegal memory access"}).startswith(
        "failed "
    )
    assert asked == ["cuda", "cpu", "cuda", "cpu", "cuda"] and server.task.device == "cuda", asked


def what_is_freed_stays_until_an_answer_is_complete():
    """Counts the new pages of a process, in a process of its own, because malloc keeps its settings."""
    pid = os.fork()
    if pid == 0:

        def new_pages():
            before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
            for _ in range(4):
                bytearray(64 << 20)
            return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

        usual, give_back = new_pages(), serve.keep_memory()
        first, kept = new_pages(), new_pages()
        give_back()
        os._exit(not (4 * kept < first <= usual and 4 * kept < new_pages()))
    assert os.waitpid(pid, 0)[1] == 0


def where_memory_is_out_it_goes_before_the_judge():
    pid = os.fork()
    if pid == 0:
        serve.offer()
        with open("/proc/self/oom_score_adj", encoding="ascii") as score:
            os._exit(int(score.read()) != 900)
    assert os.waitpid(pid, 0)[1] == 0


def what_is_not_had_costs_its_configuration_or_its_witness():
    """A graph that cannot be lowered does not affect the answer. A shape without a law from importing does
    not affect other configurations."""
    server = object.__new__(serve.Server)
    server.torch, server.task = (
        torch,
        types.SimpleNamespace(device="cpu", made=lambda sizes, seed, named=None: {"x": torch.zeros(8, 7)}),
    )

    def graph():
        raise AttributeError("'NoneType' object has no attribute 'shape'")

    server.graph = graph
    assert server.attempt({"graph": 1}).startswith("dropped AttributeError: ")
    wish = {"make": 1, "sizes": {}, "inputs": [{"name": "x", "shape": [8, 8], "at": 0}]}
    assert server.attempt(wish).startswith("dropped the task's get_inputs makes x of shape [8, 7] here"), (
        server.attempt(wish)
    )


TESTS = [
    *oracle_pieces.TESTS,
    what_a_gpu_has_no_memory_for_is_answered_on_the_host,
    what_is_freed_stays_until_an_answer_is_complete,
    where_memory_is_out_it_goes_before_the_judge,
    what_is_not_had_costs_its_configuration_or_its_witness,
]
