"""Tests of unseen_torch/task: inputs beyond those of get_inputs, where faulty guards and bounds show. Run by
the suite task, or by hand with any Python that has torch."""

from importing import NO_INIT, imported, run


def casts_to_fp32_do_not_hide_classes():
    """The run in double precision that decides on a class stays double where forward asks for fp32."""
    text = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(8, 8)

    def forward(self, x):
        return torch.softmax(self.line(x.float()), -1).to(x.dtype)


def get_inputs():
    return [torch.randn(rows, 8).half()]


rows = 6
"""
    names = [c["name"] for c in imported(text + NO_INIT)["classes"]]
    assert "beyond" in names, names


def weights_are_hot_where_a_norm_hides_the_inputs():
    text = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(8, 8)

    def forward(self, x):
        return torch.softmax(self.line(nn.functional.rms_norm(x, (8,))), -1)


def get_inputs():
    return [torch.randn(rows, 8)]


rows = 6
"""
    task = imported(text + NO_INIT)
    hot = next(c["fill"] for c in task["classes"] if c["name"] == "hot")
    assert hot["x"] == task["classes"][0]["fill"]["x"] and hot["weights"]["b"] > 1, hot


if __name__ == "__main__":
    run(globals(), ("imported",))
