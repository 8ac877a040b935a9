"""Tests of unseen_torch/task: inputs that are nonnegative by construction. Run by the suite task, or by hand
with any Python that has torch."""

from importing import NO_INIT, fills, imported, run

RULE = """
class Model(nn.Module):
    def forward(self, keys, values, rate):
        state = torch.zeros(keys.shape[1], values.shape[1])
        for k, v, r in zip(keys, values, rate):
            state = state + r * torch.outer(k, v - k @ state)
        return state


steps = 24


def get_inputs():
    return [torch.randn(steps, 6) / 6**0.5, torch.randn(steps, 4), torch.rand(steps)]


"""

STEP = """
class Model(nn.Module):
    def forward(self, moment, squares):
        return (moment.abs() / (3.0 * squares + 1e-15)).clamp(max=1.0) * moment.sign()


rows = 40


def get_inputs():
    return [torch.randn(rows, 6), torch.rand(rows, 6) * 0.01]


"""


ROUTE = """
class Model(nn.Module):
    def forward(self, gating, bias):
        scores = gating.sigmoid()
        ids = (scores + bias.float()).topk(2, dim=-1).indices
        return scores.gather(1, ids)


rows = 6


def get_inputs():
    return [torch.randn(rows, 16), torch.rand(16)]


"""


def domains(task):
    return {e["name"]: e["domain"] for e in task["inputs"]}


def of(task, name):
    """The fills of an input in all classes."""
    return {c["name"]: c["fill"][name] for c in task["classes"]}


def a_rate_beside_numbers_of_both_signs_is_never_negative():
    task = imported(RULE + NO_INIT)
    assert domains(task) == {"keys": "real", "values": "real", "rate": "nonnegative"}, domains(task)
    kinds = {f["kind"] for f in of(task, "rate").values()}
    assert kinds == {"uniform", "powers", "levels"}, of(task, "rate")


def a_bias_beside_numbers_of_both_signs_may_be_negative():
    task = imported(ROUTE + NO_INIT)
    assert domains(task) == {"gating": "real", "bias": "real"}, domains(task)
    below = next(c for c in task["classes"] if c["name"] == "below")
    assert below["fill"]["bias"]["a"] < -1, below


def a_mean_of_squares_that_is_only_added_is_never_negative():
    text = STEP.replace("(3.0 * squares + 1e-15)", "(squares + moment * moment + 1e-15).sqrt()")
    assert domains(imported(text + NO_INIT))["squares"] == "nonnegative"


def a_rate_above_which_a_state_grows_without_bound_stays_as_published():
    rate = of(imported(RULE + NO_INIT), "rate")
    assert rate["wide"]["b"] == 0 and rate["integers"]["b"] == 2, rate


def a_mean_of_squares_is_also_drawn_as_zero_and_far_above_the_published_ones():
    task = imported(STEP + NO_INIT)
    assert domains(task)["squares"] == "nonnegative", domains(task)
    squares = of(task, "squares")
    assert squares["integers"] == {"kind": "levels", "a": 0, "b": 9, "density": 0.25}, squares
    assert squares["wide"] == {"kind": "powers", "a": -13, "b": 7, "density": 1}, squares


def numbers_that_all_come_from_rand_keep_both_signs():
    task = imported(STEP.replace("torch.randn(rows, 6)", "torch.rand(rows, 6)") + NO_INIT)
    assert set(domains(task).values()) == {"real"}, domains(task)
    assert fills(task)["squares"]["kind"] == "uniform"


if __name__ == "__main__":
    run(globals(), ("domains", "of"))
