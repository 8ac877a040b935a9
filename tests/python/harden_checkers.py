"""Do the files that `unseen harden` writes run in the benchmarks' own checkers, on a CPU? Not a part of make check: the
benchmarks' sources are needed.

    python tests/python/harden_checkers.py UNSEEN KERNELBENCH HARD [LEVEL/NUMBER]

KERNELBENCH is a checkout of KernelBench, HARD benchmarks/hard of KernelBench-Hard. Their code runs
unchanged, with stand-ins for a GPU: torch.cuda.synchronize does nothing, "cuda:0" reads "cpu", and
packages that are not needed here are empty modules.
"""

import glob
import os
import shutil
import subprocess
import sys
import tempfile
import types

import torch

FAULTY = """
class ModelNew(Model):
    def forward(self, *inputs):
        y = super().forward(*inputs).clone()
        if y.shape[-1] % 32:
            y[..., y.shape[-1] // 32 * 32:] = 0
        return y
"""


def harden(unseen, task, out):
    subprocess.run(
        [
            unseen,
            "harden",
            task,
            "--out",
            out,
            "--device",
            "host",
            "--seed",
            "1",
            "--unseen",
            "12",
            "--python",
            sys.executable,
            "--quiet",
        ],
        check=True,
    )
    return out


class Empty(types.ModuleType):
    """A package of which nothing is used."""

    def __getattr__(self, name):
        return type(name, (), {"__init__": lambda self, **fields: self.__dict__.update(fields)})


def kernelbench(root):
    """Its evaluation module."""
    sys.path.insert(0, os.path.join(root, "src"))
    for name in (
        "pydantic",
        "requests",
        "tomli",
        "tqdm",
        "openai",
        "litellm",
        "datasets",
        "dotenv",
        "together",
        "anthropic",
        "google",
        "google.generativeai",
        "tabulate",
        "pandas",
        "kernelbench.timing",
        "kernelbench.dataset",
    ):
        try:
            __import__(name)
        except Exception:
            sys.modules[name] = Empty(name)
    import kernelbench.eval as evaluation

    torch.cuda.synchronize = lambda *a, **k: None
    return evaluation


def in_kernelbench(unseen, root, task):
    """Model, get_inputs and get_init_inputs as the benchmark loads them; then its own check of every
    shape, with right and wrong models."""
    evaluation = kernelbench(root)
    level, number = task.split("/")
    file = glob.glob(os.path.join(root, "KernelBench", f"level{level}", f"{number}_*.py"))[0]
    with tempfile.TemporaryDirectory() as place:
        out = harden(unseen, file, os.path.join(place, "out"))
        name = next(p for p in glob.glob(os.path.join(out, "*.py")) if not p.endswith("shapes.py"))
        with open(name, encoding="utf-8") as read:
            text = read.read()
    context = {}
    loaded = evaluation.load_original_model_and_inputs(text + FAULTY, context)
    assert loaded and all(callable(f) for f in loaded[:3]), "KernelBench does not load it"
    caught = 0
    for i in range(len(context["SHAPES"])):

        def check(make):
            torch.manual_seed(42)

            def weights(model):
                return context["vary_weights"](model, context["SEEDS"][i])

            arguments = context["get_init_inputs_for"](i)
            torch.manual_seed(42)
            right = weights(context["Model"](*arguments))
            torch.manual_seed(42)
            other = weights(make(*arguments))
            return evaluation.run_and_check_correctness(
                right,
                other,
                lambda: context["get_inputs_for"](i),
                metadata={},
                num_correct_trials=5,
                seed=42,
                device=torch.device("cpu"),
                backend="cuda",
                precision=torch.float32,
            ).correctness

        assert check(context["Model"]), f"shape {i}: KernelBench rejects the task itself"
        caught += not check(context["ModelNew"])
    assert caught, "no shape shows a lost tail to KernelBench's check"
    print(
        f"KernelBench {task}: {len(context['SHAPES'])} shapes run, the task itself passes all, a lost tail fails {caught}"
    )


def in_hard(unseen, root, problem="07_w4a16_gemm"):
    """check.py of a problem with our shapes.py, with the reference itself as solution, and with one that
    loses its tail."""
    source = next(p for p in glob.glob(os.path.join(root, "problems-*", problem)))
    with tempfile.TemporaryDirectory() as place:
        subprocess.run(
            [unseen, "import", source, "--python", sys.executable, "--out", place],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        out = harden(
            unseen,
            next(p for p in glob.glob(os.path.join(place, "*")) if os.path.isdir(p)),
            os.path.join(place, "out"),
        )
        there = os.path.join(place, "hard", "problems", problem)
        shutil.copytree(source, there)
        shutil.copytree(os.path.join(root, "src"), os.path.join(place, "hard", "src"))
        shutil.copy(os.path.join(out, "shapes.py"), there)
        with open(os.path.join(there, "check.py"), encoding="utf-8") as file:
            text = file.read().replace('"cuda:0"', '"cpu"')
        with open(os.path.join(there, "check.py"), "w", encoding="utf-8") as file:
            file.write(text)
        # its tolerances are then the defaults
        with open(os.path.join(there, "yaml.py"), "w", encoding="utf-8") as file:
            file.write(f"def safe_load(text):\n    return {{'name': '{problem}'}}\n")
        for what, tail in (
            ("PASS", ""),
            ("FAIL", FAULTY.replace("ModelNew(Model)", "_Faulty(Model)") + "\n\nModel = _Faulty\n"),
        ):
            with open(os.path.join(there, "reference.py"), encoding="utf-8") as file:
                solution = file.read()
            with open(os.path.join(there, "solution.py"), "w", encoding="utf-8") as file:
                file.write(solution + tail)
            done = subprocess.run([sys.executable, "check.py"], cwd=there, capture_output=True, text=True)
            said = done.stdout.strip().splitlines()
            assert said and said[-1].startswith(what), (what, done.stdout[-400:], done.stderr[-800:])
            print(f"KernelBench-Hard {problem}: {said[-1][:150]}")


def main():
    unseen, kernelbench_root, hard = sys.argv[1:4]
    torch.set_num_threads(1)
    in_kernelbench(unseen, kernelbench_root, sys.argv[4] if len(sys.argv) > 4 else "2/12")
    in_hard(unseen, hard)


if __name__ == "__main__":
    main()
