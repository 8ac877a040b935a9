"""Tests of unseen_torch/task: weights, their extents, and their use in constructors. Run by the suite
task, or by hand with any Python that has torch."""

import torch
from importing import imported, run
from unseen_torch.task import weight, weight_init

DERIVED = """
width = 6


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)
        %s

    def forward(self, x):
        return self.linear(x) * self.most


def get_inputs():
    return [torch.rand(4, width)]


def get_init_inputs():
    return [width]
"""


def what_a_constructor_makes_of_its_parameters_is_noted():
    """A solution of such a task gets the result of the task's own constructor on the values that it drew."""
    for most, kinds in (
        ("self.most = self.linear.weight.detach().max()", ["derived"]),
        ('self.register_buffer("most", self.linear.bias.detach().sum())', ["derived"]),
        ("self.most = torch.tensor(2.0)", []),
    ):
        assert [note["kind"] for note in imported(DERIVED % most)["notes"]] == kinds, most


PARAMETER = """
width = 8


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.factor = nn.Parameter(%s)

    def forward(self, x):
        return x * self.factor


def get_inputs():
    return [torch.rand(4, width, 3)]


def get_init_inputs():
    return [width]
"""


def what_a_constructor_draws_keeps_its_deviation():
    """However few elements it has, the initialization of a layer's weight is uniform."""
    for made, kind, scale in (
        ("torch.randn(width, 1)", "other", 1.0),
        ("torch.randn(1, 1)", "other", 1.0),
        ("torch.rand(width, 1)", "weight", "fan"),
        ("torch.normal(0.0, 50.0, (width, 1))", "other", None),
        ("nn.Linear(1, width).weight.detach()", "weight", "fan"),
    ):
        (weight_,) = imported(PARAMETER % made)["weights"]
        assert weight_["kind"] == kind and (
            weight_["scale"] == scale if scale else 20 <= weight_["scale"] <= 90
        ), (made, weight_)


class _Whole(torch.nn.Module):
    """Layers, one of them used twice, a list, a number; and a copy of each parameter from the moment when
    its layer was made."""

    def __init__(self):
        super().__init__()
        nn = torch.nn
        self.deep = nn.Sequential(nn.Linear(3, 5), nn.BatchNorm1d(5), nn.Linear(5, 3))
        self.again = self.deep[2]
        self.rows = nn.LSTM(3, 4, 2, bidirectional=True)
        self.heads = nn.MultiheadAttention(8, 2)
        self.table = nn.Embedding(6, 3)
        self.scale = nn.Parameter(torch.empty(7, 2))
        nn.init.kaiming_uniform_(self.scale)
        self.early = {name: parameter.detach().clone() for name, parameter in self.named_parameters()}
        self.free = nn.init.ones_(torch.empty(3))


def a_constructor_finds_its_weights():
    """Each parameter has its weight from its first moment on, whatever initializes it. The changes to
    torch are undone afterwards."""
    before = torch.nn.Module.register_parameter
    with weight_init.Order() as order:
        expected = order.of(_Whole())
    weights = {name: torch.randn(shape) for name, _, shape in expected}
    assert len(weights) == len(list(_Whole().named_parameters()))
    with weight_init.Placing(expected, weights) as placed:
        made = _Whole()
    assert placed.has_all() and made.early.keys() == weights.keys() and made.free.tolist() == [1, 1, 1]
    assert all(
        torch.equal(made.early[n], w) and torch.equal(made.get_parameter(n), w) for n, w in weights.items()
    )
    with weight_init.Placing(expected[1:], weights) as placed:
        torch.nn.Linear(2, 3)
    assert not placed.has_all() and torch.nn.Module.register_parameter is before


def what_a_constructor_computes_is_passed_over():
    """A square layer, a transposed copy of it as a parameter, and another square one. Then a drawn bias
    that is no parameter, and a scale whose data are filled."""
    nn, square = torch.nn, torch.randn(3, 4, 4)
    expected = [
        ("a", "empty", (4, 4)),
        ("b", "empty", (4, 4)),
        ("bias", "drawn", (4,)),
        ("c", "made", (4, 4)),
    ]
    weights = {"a": square[0], "b": square[1], "c": square[2], "bias": torch.randn(4)}
    with weight_init.Placing(expected, weights) as placed:
        module = nn.Module()
        first = nn.Linear(4, 4, bias=False)
        module.turned = nn.Parameter(first.weight.detach().t().contiguous())
        module.second = nn.Linear(4, 4, bias=False)
        module.second.weight.data.normal_()
        module.register_buffer("bias", torch.randn(4))
        module.third = nn.Parameter(torch.randn(4, 4) * 0.1)
    assert placed.has_all() and torch.equal(module.turned, square[0].t())
    assert torch.equal(module.second.weight, square[1]) and torch.equal(module.third, square[2])
    assert torch.equal(module.bias, weights["bias"])
    with weight_init.Placing(
        [("w", "empty", (3, 2)), ("b", "empty", (3,))], {"w": torch.ones(3, 2), "b": torch.ones(3)}
    ) as placed:
        nn.LazyLinear(3), nn.Linear(2, 3, device="meta")  # nowhere yet
    assert not placed.found


class _Layers(torch.nn.Module):
    """Two layers, and a change of their weights."""

    def __init__(self, then=lambda one, two: None):
        super().__init__()
        self.one, self.two = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)
        with torch.no_grad():
            then(self.one, self.two)


def what_is_folded_into_a_weight_stays():
    """A tensor computed from the weight stays in its place. Other weights, drawn tensors and the results
    of the task's own constructor do not."""
    with weight_init.Order() as order:
        expected = order.of(_Layers())
    weights = {name: torch.randn(shape) for name, _, shape in expected}
    scale, swap = (
        lambda one, two: one.weight.div_(3),
        lambda one, two: (one.bias.add_(1), two.weight.copy_(two.weight.t().clone())),
    )

    def drawn(one, two):
        one.weight.copy_(torch.randn(4, 4))
        two.weight.data = torch.zeros(4, 4)

    def fresh(one, two):
        two.weight = torch.nn.Parameter(two.weight * 3)

    def crossed(one, two):  # in another order, with the same names
        one.weight, two.weight = two.weight, one.weight

    for then, own, names in (
        (lambda one, two: None, None, set()),
        (scale, None, {"one.weight"}),
        (swap, None, {"one.bias", "two.weight"}),
        (drawn, None, set()),
        (fresh, None, {"two.weight"}),
        (crossed, None, set()),
        (scale, scale, set()),
        (swap, scale, {"one.bias", "two.weight"}),
    ):

        def construct():
            torch.manual_seed(7)
            return _Layers(then)

        _model, found, folded = weight_init.constructed(
            construct, lambda: _Layers(own) if own else _Layers(), expected, weights
        )
        assert found and set(folded) == names, (folded, names)


def a_class_without_parameters_initializes_its_weights_by_hand():
    nn, expected = torch.nn, [("w", "empty", (4, 3)), ("b", "empty", (4,))]
    weights = {"w": torch.randn(4, 3), "b": torch.randn(4)}
    with weight_init.Placing(expected, weights) as placed:
        torch.nn.init.xavier_uniform_(torch.empty(4, 3))
    assert not placed.found
    with weight_init.Placing(expected, weights, by_hand=True) as placed:
        w = nn.init.kaiming_uniform_(torch.empty(4, 3), a=2)
        free = torch.empty(7).fill_(2)
        b = torch.zeros(4).uniform_(-1, 1)
        parameter = nn.Parameter(b)
        module = nn.Module()
        module.b = parameter
    assert (
        placed.has_all()
        and torch.equal(w, weights["w"])
        and torch.equal(b, weights["b"])
        and free.tolist() == [2] * 7
    )


class _Old(torch.nn.Module):
    """Like code from before torch.empty, and folded."""

    def __init__(self, wide, far):
        super().__init__()
        self.weight, self.bias = (
            torch.nn.Parameter(torch.Tensor(far, wide)),
            torch.nn.Parameter(torch.empty(far)),
        )
        self.weight.data.uniform_(-1, 1)
        self.bias.data.uniform_(-1, 1)
        self.weight.data = self.weight.data * 2


class _Later(torch.nn.Module):
    """Made without memory, initialized afterwards, and packed."""

    def __init__(self, wide, far):
        super().__init__()
        linear = torch.nn.Linear(wide, far, device="meta").to_empty(device="cpu")
        linear.reset_parameters()
        self.packed = torch.cat([linear.weight.detach().t() * 2, linear.bias.detach()[None]])


class _Flat(torch.nn.Module):
    """Views of one memory, initialized in their order."""

    def __init__(self, wide, far):
        super().__init__()
        self.flat = torch.empty(far * (wide + 1))
        weight, bias = self.flat[: far * wide].view(far, wide), self.flat[far * wide :]
        torch.nn.init.kaiming_uniform_(weight, a=5**0.5)
        bias.normal_()
        weight.mul_(2)


class _Window(torch.nn.Module):
    """A convolution with a window of one in the place of a linear layer."""

    def __init__(self, wide, far):
        super().__init__()
        self.conv = torch.nn.Conv1d(wide, far, 1)
        self.conv.weight.data.mul_(2)


def weights_are_found_by_other_ways():
    """In layers of other sizes, of one place too: twice the weight, and the bias unchanged."""
    got = {
        _Old: lambda m: (m.weight, m.bias),
        _Later: lambda m: (m.packed[:-1].t(), m.packed[-1]),
        _Flat: lambda m: (m.flat[: -m.far].view(m.far, -1), m.flat[-m.far :]),
        _Window: lambda m: (m.conv.weight[..., 0], m.conv.bias),
    }
    for made, (wide, far) in ((made, size) for made in got for size in ((3, 5), (4, 4), (1, 1), (1, 3))):

        def own(wide=wide, far=far):
            return torch.nn.Linear(wide, far)

        with weight_init.Order() as order:
            expected = order.of(own())
        weights = {name: torch.randn(shape) for name, _, shape in expected}
        model, found, _ = weight_init.constructed(
            lambda made=made, wide=wide, far=far: made(wide, far), own, expected, weights
        )
        model.far = far
        weight_of, bias_of = got[made](model)
        assert (
            found and torch.equal(weight_of, 2 * weights["weight"]) and torch.equal(bias_of, weights["bias"])
        ), (made, wide, far)


class _Moved(torch.nn.Module):
    """A bias that is added to a layer's, and 0 afterwards."""

    def __init__(self, moves=True):
        super().__init__()
        self.linear, self.bias = torch.nn.Linear(4, 4), torch.nn.Parameter(torch.randn(4))
        if moves:
            self.linear.bias.data += self.bias.data
            self.bias.data.zero_()


def what_is_filled_after_it_was_used_stays_so():
    with weight_init.Order() as order:
        expected = order.of(_Moved(False))
    weights = {name: torch.randn(shape) for name, _, shape in expected}
    model, found, folded = weight_init.constructed(_Moved, lambda: _Moved(False), expected, weights)
    assert found and set(folded) == {"bias", "linear.bias"} and not model.bias.any()
    assert torch.equal(model.linear.bias, weights["linear.bias"] + weights["bias"])
    assert not weight_init.constructed(_Moved, _Moved, expected, weights)[2]  # the task does so itself


class _Own(torch.nn.Module):
    """The task's: a weight of small numbers, a bias of ones, and an offset of zeros."""

    def __init__(self):
        super().__init__()
        self.weight, self.bias, self.offset = (
            torch.nn.Parameter(torch.empty(shape)) for shape in ((5, 5), (5,), (5,))
        )
        torch.nn.init.normal_(self.weight, std=0.02)
        torch.nn.init.ones_(self.bias), torch.nn.init.zeros_(self.offset)


class _OwnCode(torch.nn.Module):
    """The same task; `start` initializes the weight, a packed copy of it stays, and `then` folds."""

    def __init__(self, start, then=None):
        super().__init__()
        self.weight, self.bias, self.offset = (
            torch.nn.Parameter(torch.empty(shape)) for shape in ((5, 5), (5,), (5,))
        )
        with torch.no_grad():
            start(self.weight)
            self.bias.fill_(1)
            self.offset.zero_()
            if then:
                then(self)
        self.packed = self.weight.detach().t().contiguous()


def what_initializes_in_place_is_no_fold():
    """In-place initialization ends in the task's own distribution. A fold does not, or only where nothing
    is there to fold in yet."""
    with weight_init.Order() as order:
        expected = order.of(_Own())
    weights = {name: torch.randn(shape) for name, _, shape in expected}

    def augmented(w):
        w.data.normal_()
        w.data *= 0.02

    small, plain = lambda w: w.normal_().mul_(0.02), lambda w: torch.nn.init.normal_(w, std=0.02)

    def twice(m):
        m.weight.mul_(2)

    def offset_too(m):
        m.bias += m.offset
        m.offset.zero_()

    def offset_by_copy(m):
        m.bias.add_(m.offset)
        m.offset.copy_(torch.zeros(5))

    def drawn_like(w):
        w.copy_(torch.zeros_like(w) + w.new_full((5, 5), 0.02) * torch.randn_like(w))

    for start, then, names, factor in (
        (plain, None, set(), 1),
        (small, None, set(), 1),
        (augmented, None, set(), 1),
        (lambda w: w.copy_(torch.randn(5, 5) * 0.02), None, set(), 1),
        (lambda w: w.normal_(0, 0.01).add_(w), None, set(), 1),
        (plain, twice, {"weight"}, 2),
        (small, offset_too, {"bias", "offset"}, 1),
        (plain, offset_too, {"bias", "offset"}, 1),
        (drawn_like, offset_by_copy, {"bias", "offset"}, 1),
    ):

        def construct(start=start, then=then):
            torch.manual_seed(7)
            return _OwnCode(start, then)

        def own():
            torch.manual_seed(7)
            return _Own()

        model, found, folded = weight_init.constructed(construct, own, expected, weights)
        assert found and set(folded) == names, (folded, names)
        assert torch.equal(model.packed, factor * weights["weight"].t()), (names, factor)
        assert torch.equal(model.bias, weights["bias"] + (weights["offset"] if "bias" in names else 0))


def weights_go_where_they_fit_in_order():
    """The counts of a batch norm are state, too, and may have another name."""
    own, renamed = torch.nn.Module(), torch.nn.Module()
    own.linear, own.bn = torch.nn.Linear(3, 5), torch.nn.BatchNorm1d(5)
    renamed.first, renamed.norm = torch.nn.Linear(3, 5), torch.nn.BatchNorm1d(5)
    weights = {n: torch.randn(t.shape) for n, t in own.state_dict().items() if t.is_floating_point()}
    weight.load(renamed, weights)
    assert torch.equal(renamed.norm.running_var, weights["bn.running_var"]) and torch.equal(
        renamed.first.bias, weights["linear.bias"]
    )
    assert weight.by_name(own, weights) and not weight.by_name(renamed, weights)


SEGMENTS = """
class Model(nn.Module):
    def __init__(self, nodes):
        super().__init__()
        self.nodes = nodes
        self.before = 0

    def forward(self, x, index):
        %s
        return torch.zeros(self.nodes, x.shape[1]).index_add(0, index, x)


edges, nodes, width = 60, 12, 8


def get_inputs():
    return [torch.randn(edges, width), torch.randint(0, nodes, (edges,))]


def get_init_inputs():
    return [nodes]
"""


def a_size_that_the_constructor_is_told_makes_another_model():
    """Indices beyond the size that this one was constructed for do not show whether it serves other
    shapes."""
    for line, kinds in (
        ("", []),
        (
            "if not self.before: self.before = x.shape[0]\n        x = x if x.shape[0] == self.before else x + 1",
            ["kept"],
        ),
    ):
        assert [note["kind"] for note in imported(SEGMENTS % line)["notes"]] == kinds, line


HEADS = """
class Model(nn.Module):
    def __init__(self, dim, heads, kv_heads):
        super().__init__()
        self.heads, self.kv_heads = heads, kv_heads
        self.q, self.k = (nn.Linear(dim, n * (dim // heads), bias=False) for n in (heads, kv_heads))

    def forward(self, x):
        q, k = self.q(x).view(x.shape[0], self.heads, -1), self.k(x).view(x.shape[0], self.kv_heads, -1)
        return (q * k.repeat_interleave(self.heads // self.kv_heads, 1)).sum(-1)


rows, dim, heads, kv_heads = 5, 64, 8, 2


def get_inputs():
    return [torch.randn(rows, dim)]


def get_init_inputs():
    return [dim, heads, kv_heads]
"""


def heads_share_a_width():
    """Some of the heads that a width is cut into; no head is without a column."""
    task = imported(HEADS)
    assert [a["name"] for a in task["axes"]] == ["rows", "dim", "heads", "kv_heads"], (
        task["axes"],
        task["fixed"],
    )
    assert {w["name"]: w["shape"] for w in task["weights"]}["k.weight"] == ["kv_heads*(dim/heads)", "dim"], (
        task["weights"]
    )
    assert "heads <= dim" in task["limits"], task["limits"]


if __name__ == "__main__":
    run(globals())
