"""Tests of unseen_torch/task: sizes that go together, expressions of extents, and ranges of the classes'
values. Run by the suite task, or by hand with any Python that has torch."""

from importing import NO_INIT, imported, run
from unseen_torch.task import fit, write


def axes(task):
    return {a["name"]: (a["low"], a["high"], a["step"]) for a in task["axes"]}


def shape_of(task, name):
    return next(w["shape"] for w in task["weights"] if w["name"] == name)


PATCHES = """
class Model(nn.Module):
    def __init__(self, image_size, patch_size, dim):
        super().__init__()
        self.patch_size = patch_size
        self.embed = nn.Parameter(torch.randn(dim, 3, patch_size, patch_size))
        self.place = nn.Parameter(torch.randn(1, (image_size // patch_size) ** 2 + 1, dim))
        self.first = nn.Parameter(torch.randn(1, 1, dim))

    def forward(self, image):
        x = nn.functional.conv2d(image, self.embed, stride=self.patch_size).flatten(2).transpose(1, 2)
        return torch.cat([self.first.expand(x.shape[0], -1, -1), x], dim=1) + self.place


batch, image_size, patch_size, dim = 2, 48, 8, 24


def get_inputs():
    return [torch.rand(batch, 3, image_size, image_size)]


def get_init_inputs():
    return [image_size, patch_size, dim]
"""


def patches_of_an_image_and_one_more_token():
    task = imported(PATCHES)
    assert set(axes(task)) == {"batch", "image_size", "patch_size", "dim"}, task["fixed"]
    assert shape_of(task, "place") == [1, "(image_size/patch_size)^2 + 1", "dim"], shape_of(task, "place")


FRAMES = """
class Model(nn.Module):
    def __init__(self, width, hop):
        super().__init__()
        self.width, self.hop = width, hop
        self.window = nn.Parameter(torch.rand(width))

    def forward(self, x):
        return (x.unfold(-1, self.width, self.hop) * self.window).sum(-1)


batch, samples, width, hop = 2, 1000, 64, 24


def get_inputs():
    return [torch.randn(batch, samples)]


def get_init_inputs():
    return [width, hop]
"""


def windows_of_a_stride_that_stays():
    task = imported(FRAMES)
    assert set(axes(task)) == {"batch", "samples", "width"}, task["fixed"]
    assert task["outputs"][0]["shape"] == ["batch", "(samples - width + 24)/24"], task["outputs"]
    assert task["limits"] == ["width <= samples"], task["limits"]


GROUPS = """
class Model(nn.Module):
    def __init__(self, group):
        super().__init__()
        self.group = group

    def forward(self, x, w, scales):
        rows, terms = w.shape
        wide = w.view(rows, terms // self.group, self.group) * scales.unsqueeze(-1)
        return x @ wide.view(rows, terms).t()


tokens, terms, rows, GROUP = 8, 256, 16, 64


def get_inputs():
    return [torch.randn(tokens, terms), torch.randn(rows, terms), torch.rand(rows, terms // GROUP)]


def get_init_inputs():
    return [GROUP]
"""


def a_group_that_divides_what_it_is_a_group_of():
    task = imported(GROUPS)
    assert {"terms", "GROUP"} <= set(axes(task)), task["fixed"]
    assert "terms % GROUP == 0" in task["limits"], task["limits"]


ROTARY = """
def halves(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


class Model(nn.Module):
    def __init__(self, head_dim, share):
        super().__init__()
        self.rotary = int(head_dim * share)
        self.register_buffer("rates", 1.0 / (100 ** (torch.arange(0, self.rotary, 2).float() / self.rotary)), persistent=False)

    def forward(self, x, place):
        angle = place.unsqueeze(-1).float() * self.rates
        angle = torch.cat((angle, angle), dim=-1).unsqueeze(1)
        turned, rest = x[..., :self.rotary], x[..., self.rotary:]
        return torch.cat((turned * angle.cos() + halves(turned) * angle.sin(), rest), dim=-1)


batch, heads, steps, head_dim, share = 2, 4, 20, 64, 0.25


def get_inputs():
    return [torch.randn(batch, heads, steps, head_dim), torch.randint(0, 300, (batch, steps))]


def get_init_inputs():
    return [head_dim, share]
"""


def a_share_of_a_width_that_must_be_even():
    """head_dim of 64 to 67 and of 72 run, and of 68 to 71 do not. No comparison expresses this, and one
    that seems to would bind free sizes."""
    task = imported(ROTARY)
    assert task["limits"] == [] and axes(task)["head_dim"] == (8, 256, 8), (task["limits"], axes(task))
    assert set(axes(task)) == {"batch", "heads", "steps", "head_dim"}, task["fixed"]


def several_axes_in_a_square():
    runs = [
        ({"a": a, "b": b}, (a // b) ** 2 + 1)
        for a, b in ((48, 8), (49, 8), (56, 8), (64, 8), (96, 8), (48, 9), (48, 12), (48, 4), (60, 7))
    ]
    assert fit.extent(runs[0][0], runs) == "(a/b)^2 + 1"


def an_extent_may_be_the_lesser_of_two_sizes():
    runs = [
        ({"a": a, "b": b, "c": c}, min(a, b))
        for a, b, c in ((48, 8, 2), (49, 8, 2), (48, 9, 2), (5, 8, 2), (48, 60, 2), (48, 8, 3), (7, 7, 5))
    ]
    found = fit.extent(runs[0][0], runs)
    assert found == "a*(1/(1 + a/b)) + b*(1 - 1/(1 + a/b))", found
    assert fit.extent(runs[0][0], [(s, y + (s["c"] == 5)) for s, y in runs]) is None


SPLATS = (
    """
class Model(nn.Module):
    def forward(self, scale, axes):
        m = axes * torch.exp(scale).unsqueeze(-1)
        return m @ m.transpose(1, 2)


points = 40


def get_inputs():
    return [torch.randn(points, 3), torch.randn(points, 3, 3)]


"""
    + NO_INIT
)


def no_class_goes_where_what_is_squared_overflows():
    """exp(64)^2 is out of range in fp32, while a few drawn elements may all be finite."""
    wide = next(c for c in imported(SPLATS)["classes"] if c["name"] == "wide")
    assert wide["fill"]["scale"] == {"kind": "wide", "a": -6, "b": 3}, wide
    assert wide["shows"] == "magnitudes from 2^-6 to 16, both signs", wide


STEP = (
    """
class Model(nn.Module):
    def forward(self, x, gradient, square):
        square = 0.9 * square + 0.1 * gradient * gradient
        return x - 0.01 * gradient / (square.sqrt() + 1e-8), square


rows, cols = 6, 30


def get_inputs():
    return [torch.randn(rows, cols), torch.randn(rows, cols) * 0.1, torch.rand(rows, cols) * 0.001]


"""
    + NO_INIT
)


def what_has_a_root_taken_is_at_or_above_0_in_every_class():
    task = imported(STEP)
    assert [i["domain"] for i in task["inputs"]] == ["real", "real", "nonnegative"], task["inputs"]
    kinds = {c["fill"]["square"]["kind"] for c in task["classes"]}
    assert len(task["classes"]) > 3 and kinds <= {"uniform", "powers", "levels"}, kinds
    assert all(
        c["fill"]["x"] != task["classes"][0]["fill"]["x"]
        for c in task["classes"][1:]
        if c["name"] != "signed"
    )


SCORES = (
    """
class Model(nn.Module):
    def forward(self, q):
        return torch.softmax(q @ q.transpose(-1, -2), dim=-1) @ q


batch, steps, width = 4, 48, 512


def get_inputs():
    return [torch.randn(batch, steps, width)]


"""
    + NO_INIT
)


def the_work_of_what_a_width_has_no_part_in():
    """A width of 1 has as many scores as one of 512."""
    law = imported(SCORES)["scratch"]

    def scores(sizes):
        return sizes["batch"] * sizes["steps"] ** 2

    small = {"batch": 64, "steps": 48, "width": 1}
    assert write.law_at(law, small) > 0.5 * scores(small), (law, write.law_at(law, small))


if __name__ == "__main__":
    run(globals(), ("imported", "axes", "shape_of"))
