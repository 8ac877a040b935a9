"""Tests of unseen_torch/oracle: elements by place and order, jumps, casts; part of test_oracle.py."""

import math

import torch
from oracle_asked import F, Plain, drawn, passes, positive, refusal, told, x
from unseen_torch.oracle import evaluate, returned
from unseen_torch.oracle import graph as graphs


def computed_numbers_are_cast_where_their_bounds_agree():
    image = drawn(2, 3, 7, 5)
    larger = Plain(lambda t: F.interpolate(t, size=(15, 12), mode="bilinear", align_corners=False))
    assert refusal(larger, [image]) == "" and passes(told(larger, [image])[2], larger(image))
    assert not passes(
        told(larger, [image])[2], F.interpolate(image, size=(15, 12), mode="bilinear", align_corners=True)
    )
    whole = Plain(lambda t: t.gather(1, (t.abs() * 0 + 3 + t * 1e-9).long() % 40))
    assert "may be anything" in refusal(whole, [x])


def places_are_computed_of_whole_numbers():
    """A row's pitch times one floor and another one are exact, whatever was rounded before. A number
    beside a jump has no known answer."""

    def places(t):
        row, column = (
            torch.floor(t * 7.3).clamp(0, 30),
            torch.minimum(torch.floor(t.abs() * 3.1) + 1, torch.full_like(t, 6.0)),
        )
        return (row * 8 + column - torch.ones_like(t) + torch.arange(40) * 0).long()

    (j,) = told(Plain(places), [x])[2]
    assert torch.equal(j.want, places(x).double()) and float(j.allowed.max()) == 0
    # whether an even number is met or not
    (j,) = told(Plain(lambda t: (torch.floor(t * 7.3) * 8.5).long()), [x])[2]
    assert float(j.allowed.max()) < 2
    assert "several steps" in refusal(Plain(lambda t: (torch.floor(t * 0.3) * 8 + 1).long()), [x * 0 + 10])


def written(t, where, value):
    t = t * 1.5
    t[where] = value
    return t


def elements_are_written_into_places():
    order = torch.stack(
        [torch.randperm(40, generator=torch.Generator().manual_seed(i))[:7] for i in range(6)]
    )
    parts = drawn(6, 7, seed=4)
    for name, f in {
        "number": lambda t: written(t, (slice(None), slice(1, None, 3)), 0.3),
        "row": lambda t: written(t, 2, t[0] * 3),
        "slice": lambda t: written(t, slice(1, None), t[:-1] * 3),
        "scatter": lambda t: (t * 3).scatter(1, order, parts * 3),
        "in place": lambda t: torch.zeros_like(t).scatter_(1, order, parts * 3) + t,
        "value": lambda t: (t * 3).scatter(1, order, 0.3),
        "added": lambda t: (t * 3).add_(1e-5),
    }.items():
        assert refusal(Plain(f), [x]) == "", name
        judged = told(Plain(f), [x])[2]
        assert passes(judged, f(x)) and not passes(judged, f(x) * 1.001), name
    (once,) = told(Plain(lambda t: t.scatter(1, order * 0, parts)), [x])[2]  # all seven to the first column
    assert (
        once.untold == 6
        and bool(once.allowed[:, 0].isinf().all())
        and float(once.allowed[:, 1:].max()) < 1e-6
    )
    whole = Plain(lambda t: torch.zeros(6, 40, dtype=torch.long).scatter(1, order * 0, order))
    assert "several values" in refusal(whole, [x])


def targets_may_be_ignored_or_weighed():
    at, weighs = torch.tensor([3, -100, 0, 39, -100, 7]), positive(40)
    for reduction in ("mean", "sum", "none"):
        for given in (None, weighs):
            loss = Plain(lambda t: F.cross_entropy(t, at, weight=given, reduction=reduction))
            assert refusal(loss, [x]) == "", (reduction, given)
            assert passes(told(loss, [x])[2], loss(x)), (reduction, given)
            whole = F.cross_entropy(x, at.clamp(min=0), weight=given, reduction=reduction)
            assert not passes(told(loss, [x])[2], whole), (reduction, given)
    nothing = Plain(lambda t: F.cross_entropy(t, torch.full((6,), -100)))
    assert refusal(nothing, [x]) != ""


def a_mask_of_infinities_is_added_exactly():
    """No row is open as a whole."""

    def window(x):
        at = torch.arange(12)
        near = (at[:, None] - at[None]).abs() < 4
        return torch.softmax(x @ x.t() * 0.2 + torch.where(near, 0.0, float("-inf")), -1) @ x

    inputs = [drawn(12, 8)]
    assert refusal(Plain(window), inputs) == ""
    assert passes(told(Plain(window), inputs)[2], window(*inputs))


def places_orders_and_spreads_have_rules():
    """Operations of tasks outside of KernelBench, each on numbers that are inexact already, and on a mask."""
    at = torch.tensor([[0, 2, 2, 1, 4, 0], [3, 3, 3, 3, 0, 1], [5, 4, 3, 2, 1, 0], [1, 1, 0, 0, 5, 5]])
    rows, mask = torch.tensor([2, 0, 2, 1]), torch.tensor([True, False, True, True])
    cases = {
        "topk": lambda x: torch.topk(x, 3)[0],
        "sort": lambda x: x.sort(0, descending=True)[0],
        "by order": lambda x: x.gather(1, x.argsort(1)),
        "scatter_add": lambda x: torch.zeros(4, 6).scatter_add(1, at, x),
        "index_add": lambda x: torch.ones(3, 6).index_add(0, rows, x),
        "index_put": lambda x: torch.zeros(3, 6).index_put((rows,), x, accumulate=True),
        "written": lambda x: torch.zeros(5, 6).index_copy(0, torch.tensor([3, 0, 4, 1]), x),
        "var": lambda x: x.var(1),
        "std": lambda x: x.std(0, keepdim=True),
        "var_mean": lambda x: sum(torch.var_mean(x, 1)),
        "prod": lambda x: x.prod(1),
        "glu": lambda x: F.glu(x),
        "unfold": lambda x: F.unfold(x[None, None], (2, 3)),
        "mask": lambda x: (x * mask[:, None]).sum() / mask.sum(),
        "of both": lambda x: (x * 3).cumsum(1) * mask[:, None] * x,
    }
    for name, function in cases.items():

        def f(x):
            return function(x * 1.1)

        x = drawn(4, 6)
        judged = evaluate.answer(graphs.trace(Plain(f), [x]), {}, [x])[0]
        off = (f(x).double() - judged.want).abs()
        assert judged.dropped is None and judged.label, (name, judged.dropped)
        assert bool((off <= judged.allowed).all()), (name, float(off.max()))
        assert float(judged.allowed.max()) < 1e-4 * float(judged.want.abs().max()), (
            name,
            float(judged.allowed.max()),
        )
        wrong = (f(x.bfloat16().float()).double() - judged.want).abs()
        assert bool((wrong > judged.allowed).any()), name


def a_place_that_is_written_twice_has_no_right_answer():
    x = drawn(3, 2)
    twice = Plain(lambda x: torch.zeros(4, 2).index_put((torch.tensor([1, 1, 0]),), x))
    (judged,) = evaluate.answer(graphs.trace(twice, [x]), {}, [x])
    assert (
        judged.allowed.isinf().all(1).tolist() == [False, True, False, False]
        and "may be anything" in judged.dropped
    )


def a_slot_for_what_is_dropped_matters_nothing():
    """Every third element goes to one place that is cut off again, or all elements are the same there."""
    kept = torch.arange(40) % 3 != 0
    slot = torch.where(kept, torch.arange(40), torch.full((40,), 40))

    def placed(t, rows):
        return torch.zeros(41, 6).index_copy_(0, slot, rows)

    for f in (lambda t: placed(t, t.T)[:-1] * 2, lambda t: placed(t, t.T * kept.unsqueeze(-1)) * 2):
        assert refusal(Plain(f), [x]) == "" and float(told(Plain(f), [x])[2][0].allowed.max()) < 1e-5
        assert passes(told(Plain(f), [x])[2], f(x)) and not passes(told(Plain(f), [x])[2], f(x) * 1.001)


def equal_ones_in_order_share_their_mask():
    """A top-p filter keeps equal elements together. Their order may go either way, but both are kept, or
    one of them depends on it."""

    def kept(t):
        p, at = t.softmax(-1).sort(-1, descending=True)
        return torch.zeros_like(p > 0).scatter(1, at, p.cumsum(-1) - p > 0.9)

    rows = drawn(4, 50) * 3
    rows[:, 7], rows[:, 31] = rows[:, 9], rows.amax(-1)
    (judged,) = told(Plain(kept), [rows])[2]
    assert (
        judged.dropped is None
        and float(judged.allowed.max()) == 0
        and torch.equal(judged.want, kept(rows).double())
    )
    # of two halves the second one is not kept, whichever it is
    half = torch.tensor([[0.0, 0.0, -9.0, -9.0]])

    def first(t):
        return torch.zeros_like(t > 0).scatter(1, (at := t.softmax(-1).sort(-1))[1], at[0].cumsum(-1) > 0.7)

    assert told(Plain(first), [half])[2][0].allowed.tolist() == [[1.0, 1.0, 0.0, 0.0]]

    def moved(t):
        return torch.zeros_like(t).scatter(1, t.softmax(-1).sort(-1)[1], torch.arange(4.0).expand(1, 4) * t)

    told_of = told(Plain(moved), [torch.tensor([[0.5, 0.5, -9.0, 3.0]])])[2][0].allowed[0]
    assert float(told_of[:2].min()) > 0.4 and float(told_of[2:].max()) < 1e-5, told_of


def samples_between_pixels():
    image, grid = (
        drawn(2, 3, 9, 11),
        torch.rand(2, 5, 7, 2, generator=torch.Generator().manual_seed(5)) * 2.6 - 1.3,
    )
    for padding in ("zeros", "border", "reflection"):
        for align in (True, False):

            def sample(t, g):
                return F.grid_sample(t, (g * 1.1).tanh(), padding_mode=padding, align_corners=align)

            assert refusal(Plain(sample), [image, grid]) == "", padding
            judged, right = told(Plain(sample), [image, grid])[2], sample(image, grid)
            assert passes(judged, right) and not passes(judged, right * 1.001), padding
            assert not passes(judged, sample(image, grid + 1e-3)), padding
            off = sample(image.double(), grid.double()) - right
            assert float((off.abs() / judged[0].allowed).max()) < 0.25, padding
    volume, places = drawn(1, 2, 4, 5, 6), torch.rand(1, 3, 4, 5, 3) * 2 - 1
    deep = Plain(lambda t, g: F.grid_sample(t, g, align_corners=False))
    assert passes(told(deep, [volume, places])[2], deep(volume, places))
    nearest, center = (
        Plain(lambda t, g: F.grid_sample(t, g, mode="nearest", align_corners=False)),
        torch.full((2, 3, 4, 2), 0.3),
    )
    assert passes(told(nearest, [image, center])[2], nearest(image, center))


def beside_a_jump_both_sides_are_right():
    """10 * 0.3 may be 3 or a little less, 11 * 0.3 may not. A bound decides in one case, the runs in the
    other."""
    cases = {
        "floor": (torch.floor, 2.0, 3.0),
        "ceil": (torch.ceil, 3.0, 4.0),
        "trunc": (torch.trunc, 2.0, 3.0),
        "round": (lambda y: torch.round(y + 0.5), 3.0, 4.0),
        "sign": (lambda y: torch.sign(y - 3), -1.0, 1.0),
        "remainder": (lambda y: torch.remainder(y, 1.0), 1.0, 0.0),
        "fmod": (lambda y: torch.fmod(y, 1.5), 1.5, 0.0),
        "divided": (lambda y: y // 1.5, 1.0, 2.0),
        "atan2": (lambda y: torch.atan2(y - 3, -torch.ones_like(y)), -math.pi, math.pi),
    }
    halves, turn = torch.full((2, 2), 0.15), torch.tensor([[0.6, 0.8], [-0.8, 0.6]])

    def turned(y):  # there and back: the bound multiplies worst cases, the runs tell
        for _ in range(24):
            y = y @ turn @ turn.t()
        return y @ halves

    for name, (f, low, high) in cases.items():
        for inner, ten in (
            (lambda y: y * 0.3, 10.0),
            (lambda y: y * 0.3, 10 + 2.0**-20),
            (lambda y: y @ halves, 10.0),
            (turned, 10.0),
        ):
            # of the second no run jumps by itself
            (j,) = told(Plain(lambda y: f(inner(y))), [torch.tensor([[ten, ten], [11.0, 11.0]])])[2]
            want, allowed = float(j.want[0, 0]), float(j.allowed[0, 0])
            assert max(abs(want - low), abs(want - high)) <= allowed, (name, want, allowed)
            assert float(j.allowed[1].max()) < 1e-4 or inner is turned, (name, float(j.allowed[1].max()))


def elements_are_picked_by_order_and_place():
    row = torch.tensor([[1.0, 5.0, 2.0]])
    for function, index in (
        (lambda t: t.median(1)[1], 2),
        (lambda t: torch.cummax(t, 1)[1], 1),
        (lambda t: t.kthvalue(1, 1)[1], 0),
    ):
        (j,) = told(Plain(lambda t: function(t * 3)), [row])[2]
        assert int(j.want.reshape(-1)[-1]) == index
    ten = torch.tensor([[10.0, 20.0, 10.0]])
    for function, why in (
        (lambda t: t[:, (t * 1.1).median(1)[1]], "may be anything"),
        (lambda t: torch.mode(t * 3, 1)[0], "the most frequent one"),
        (lambda t: t[:1].as_strided((2,), (1,), 5), "beside its operand"),
        (lambda t: torch.cdist(t, t, p=3), "order 3"),
    ):
        found = refusal(Plain(function), [ten])
        assert why in found, (why, found)
    (j,) = told(Plain(lambda t: torch.floor(t * 0.3).long()), [ten])[2]
    assert (
        passes([j], torch.tensor([[2, 6, 3]]))
        and passes([j], torch.tensor([[3, 5, 2]]))
        and not passes([j], torch.tensor([[3, 6, 5]]))
    )
    # far from a jump: whole numbers that are known
    (j,) = told(Plain(lambda t: torch.floor(t * 0.33).long()), [ten])[2]
    assert j.want.tolist() == [[3.0, 6.0, 3.0]] and float(j.allowed.max()) == 0


def by_experts(t):
    """The two best of four, whose rows are taken one expert after the other."""
    w, chosen = torch.topk(t[:, :4].softmax(-1), 2)
    out = torch.zeros_like(t)
    for e in range(4):
        rows, slot = torch.where(chosen == e)
        if rows.numel():
            out.index_add_(0, rows, t[rows] * w[rows, slot, None] * (e + 1))
    return out


def at_once(t, chosen):
    w = t[:, :4].softmax(-1).gather(1, chosen)
    return t * (w * (chosen + 1)).sum(1, keepdim=True)


def what_hangs_on_values_is_told():
    """Row numbers, counts and numbers that Python reads are judged where every honest implementation finds
    the same."""
    judged = told(Plain(by_experts), [x])[2]
    assert passes(judged, at_once(x, x[:, :4].topk(2)[1])) and not passes(
        judged, at_once(x, x[:, 1:5].topk(2)[1] % 4)
    )
    for f in (
        lambda t: torch.zeros_like(t).index_add_(0, torch.nonzero(t[:, 0] * 3 > 0)[:, 0], t[t[:, 0] * 3 > 0]),
        lambda t: t / t.abs().max().item(),
        lambda t: t * 2 if t.sum() * 3 > -1e6 else t,
        lambda t: t[int((t * 3).sum(1).argmax())],
        lambda t: torch.unique((t > 0).long(), return_inverse=True)[1] * t,
        lambda t: t * int((t * 3 > 0).sum()),
    ):
        assert refusal(Plain(f), [x]) == "" and passes(told(Plain(f), [x])[2], f(x))
    equal = torch.ones(6, 40)
    for f, why in (
        (by_experts, "may be anything"),
        (lambda t: t[int((t * 0.3).sum(1).argmax())], "either way"),
        (lambda t: t * 2 if (t - t.mean()).sum() > 0 else t, "read by Python"),
        (lambda t: t * t.mean().item(), "read by Python"),
        (lambda t: t * int((t * 0.3 > 0.3).sum()), "either way"),
        (lambda t: torch.unique(t * 0.3, return_inverse=True)[1] * t, "computed numbers"),
    ):
        found = refusal(Plain(f), [equal])
        assert why in found, (why, found)


def a_choice_among_equal_ones_is_open_in_a_mask():
    """The masks enter a computation, as in a mixture of experts. A comparison that may go either way is
    off by one as a number."""
    row = torch.tensor([[1.0, 1.0, 0.0, -2.0]] * 3)
    mask = Plain(lambda t: ((t * 3).topk(1)[1] == torch.arange(4)) * (t + 2))
    judged = told(mask, [row])[2]
    for place in (0, 1):
        assert passes(judged, torch.eye(4)[[place] * 3] * 3)
    assert not passes(judged, torch.eye(4)[[0] * 3] * 7)
    judged = told(Plain(lambda t: (t * 0.3 > 0.3).float() * t + 1), [row])[2]
    assert (
        passes(judged, torch.ones(3, 4))
        and passes(judged, torch.tensor([[2.0, 1.0, 1.0, 1.0]] * 3))
        and not passes(judged, row * 0 + 3)
    )
    judged = told(Plain(lambda t: torch.where(t < 1, t * 3, (t * 3).topk(1)[1] == torch.arange(4))), [row])[2]
    for place in (0, 1):
        assert passes(judged, torch.where(row < 1, row * 3, torch.eye(4)[[place] * 3]))
    assert not passes(judged, torch.where(row < 1, row * 3, torch.eye(4)[[0] * 3] * 4))


def who_is_chosen_among_equal_ones_hangs_on_that_alone():
    """Two experts of a token are equally good. The token may get either. Every other token must be right."""
    tokens = drawn(48, 8)
    # nobody chooses the last two
    tokens[5, 1:3], tokens[5, 6:], tokens[7, :] = tokens[5].max() + 1, -9.0, 1.0
    open_ = torch.zeros(48, dtype=torch.bool).scatter(0, torch.tensor([5, 7]), True)
    each, last = drawn(8, 6), [False]

    def chosen(t, k=1):
        w, at = torch.topk(((t.flip(1) if last[0] else t) * 0.3).softmax(-1), k)
        return w, 7 - at if last[0] else at

    def gates(t, k=1, put=torch.Tensor.scatter):
        w, at = chosen(t, k)
        return put(torch.zeros_like(t), 1, at, w)

    ways = {
        "scattered": lambda t: gates(t) @ each,
        "added": lambda t: gates(t, 1, torch.Tensor.scatter_add) @ each,
        "rows": lambda t: each[chosen(t)[1][:, 0]] * t[:, :1],
        "columns": lambda t: t[:, :6] + each.t()[:, chosen(t)[1][:, 0]].t(),
        "selected": lambda t: each.index_select(0, chosen(t)[1].flatten()),
        "embedded": lambda t: F.embedding(chosen(t)[1], each)[:, 0],
        "gathered": lambda t: t.gather(1, chosen(t)[1].expand(48, 3)).cumsum(1)[:, 2:] * torch.ones(6),
        "both": lambda t: each[chosen(t)[1], torch.arange(6)],
        "two": lambda t: gates(t, 2)[:, 1:7],
        "whole": lambda t: torch.arange(48).reshape(8, 6)[chosen(t)[1][:, 0]],
    }
    for name, f in ways.items():
        (judged,) = told(Plain(f), [tokens])[2]
        out, other = f(tokens), f(tokens).flip(0)
        last[0] = True
        turned, last[0] = f(tokens), False
        row_is_open = (judged.allowed > 0.01).any(1)
        assert judged.dropped is None and bool(row_is_open.any()), (name, judged.dropped)
        assert not bool((row_is_open & ~open_).any()) and not passes([judged], other), name
        assert passes([judged], out) and passes([judged], turned), name
        assert not passes([judged], out + (3 if name == "whole" else 0.1)), name
    two = told(Plain(lambda t: gates(t, 2)), [tokens])[2][0].allowed.isinf()
    # both of them, in either order; any of equal ones
    assert two[5].tolist() == [False, True, True] + [False] * 5 and bool(two[7].all()), two[5]
    assert "may be anything" in refusal(Plain(lambda t: gates(t[5:8])), [tokens])


class _Experts(torch.nn.Module):
    """Two of four experts for every token, one expert after the other: from the list of matches or from a
    mask."""

    def __init__(self, how):
        super().__init__()
        self.how, self.gate = how, torch.nn.Linear(8, 4, bias=False)
        self.up = torch.nn.ModuleList([torch.nn.Linear(8, 12) for _ in range(4)])
        self.down = torch.nn.ModuleList([torch.nn.Linear(6, 8, bias=False) for _ in range(4)])

    def forward(self, t):
        w, chosen = torch.topk(self.gate(t).softmax(-1), 2)
        w = w / w.sum(-1, keepdim=True)
        out, mask = torch.zeros_like(t), F.one_hot(chosen, 4).permute(2, 1, 0)
        for e in range(4):
            slot, rows = torch.where(mask[e]) if self.how == "masks" else torch.where(chosen == e)[::-1]
            if rows.numel():
                mine = t[None, rows].reshape(-1, 8) if self.how == "masks" else t[rows]
                a, b = self.up[e](mine).chunk(2, -1)
                made = self.down[e](F.silu(a) * b) * w[rows, slot, None]
                if self.how == "put":
                    out[rows] = out[rows] + made
                elif self.how == "cut":
                    out.index_add_(0, rows[:20], made[:20])
                elif self.how == "before":
                    out.index_add_(0, rows, made.cumsum(0))
                else:
                    out.index_add_(0, rows, made)
        return out


def rows_that_may_be_listed_go_their_own_ways():
    """Tokens without decided experts are not judged, and all others are. Nothing is judged where one row
    depends on the number of those before."""
    torch.manual_seed(3)
    tokens = drawn(48, 8)
    tokens[11] = 0  # all of its experts are equally good
    for how in ("rows", "masks", "put", "cut", "before"):
        model = _Experts(how)
        if how in ("cut", "before"):
            assert "either way" in refusal(model, [tokens]), how
            continue
        (judged,) = told(model, [tokens])[2]
        out = model(tokens).detach()
        assert (
            judged.allowed.isinf().any(1).nonzero().flatten().tolist() == [11] and judged.dropped is None
        ), how
        odd = out.clone()
        odd[11] += 1
        assert (
            passes([judged], odd)
            and not passes([judged], out * 1.001)
            and not passes([judged], out.roll(1, 0))
        ), how
    (judged,) = told(
        Plain(
            lambda t: torch.zeros_like(t).index_put(
                (torch.where(t[:, 0] * 0.3 + 0.1 > 0.1)[0],), torch.ones(())
            )
        ),
        [tokens],
    )[2]
    assert judged.allowed.isinf().all(1).nonzero().flatten().tolist() == [11]
    for f in (
        lambda t: t[torch.where(t[:, 0] * 0.3 + 0.1 > 0.1)[0]].sum(0),
        lambda t: t * 2 if torch.where(t[:, 0] * 0.3 + 0.1 > 0.1)[0].numel() > 3 else t,
        lambda t: t * torch.where(t[:, 0] * 0.3 + 0.1 > 0.1)[0].numel(),
        lambda t: torch.zeros_like(t).index_put(
            (torch.where(t[:, 0] * 0.3 + 0.1 > 0.1)[0],), t[: int((t[:, 0] > 0).sum())]
        ),
    ):
        assert refusal(Plain(f), [tokens]), f


class _Turned(torch.nn.Module):
    """It uses cosines that its constructor has computed, in a buffer or a plain attribute, and a mask of
    whole numbers."""

    def __init__(self, plain):
        super().__init__()
        table, mask = (
            torch.outer(torch.arange(48.0), 0.7 ** torch.arange(8.0)).cos(),
            torch.ones(8).index_fill(0, torch.tensor([3]), 0.0),
        )
        if plain:
            self.table, self.mask = table, mask
        else:
            self.register_buffer("table", table), self.register_buffer("mask", mask)

    def forward(self, t):
        return t * self.table * self.mask


def what_a_constructor_computes_may_be_computed_otherwise():
    """Tables may differ by two units in the last place. A table that is loaded does not count, and masks
    stay masks."""
    t = drawn(48, 8)
    exactly = torch.outer(torch.arange(48.0).double(), (0.7 ** torch.arange(8.0)).double()).cos()
    table = _Turned(True).table
    off = torch.nextafter(torch.nextafter(table, exactly.float() + 1), exactly.float() + 1)
    off[0] = 1.0  # of no angle
    for plain in (True, False):
        model = _Turned(plain)
        graph = graphs.trace(model, [t])
        (judged,) = evaluate.answer(graph, graphs.state_of(model), [t], tables=frozenset(["table", "mask"]))
        right = t * off * model.mask
        assert passes([judged], right) and not passes(
            [judged], torch.cat([right[:1], right[1:] * 1.00001])
        ), plain
        assert not passes([judged], torch.cat([right[:1] * (1 + 2.0**-21), right[1:]])), plain  # 1 is 1
        assert float(judged.allowed[:, 3].max()) < 1e-30
    (judged,) = evaluate.answer(graph, graphs.state_of(model), [t])
    assert passes([judged], model(t)) and not passes([judged], t * off * model.mask)


def an_index_of_another_type_names_what_it_named():
    near = torch.tensor([[1.0, 1.0, 0.0, -1.0]] * 40)
    (judged,) = told(Plain(lambda t: (t * 0.3).argmax(1).int()), [near])[2]
    assert float(judged.allowed.max()) == 0
    for place, right in ((0, True), (1, True), (2, False)):
        got = torch.full((40,), place)
        assert bool((returned.judge_index(judged, got) == got).all()) == right, place
    undecided = torch.cat([near[:1], drawn(40, 4) + torch.arange(4.0) * 9])

    def chosen(t):  # by what is decided, among others by what is not
        return torch.where(
            t[:, 0] * 0.3 == 0.3, (t * 0.3).topk(1)[1].reshape(-1), torch.where(t[:, 1] * 0.3 > 3, 7, 9)
        )

    undecided[1, 1] = 10.0
    (judged,) = told(Plain(chosen), [undecided])[2]
    assert judged.allowed.isinf().tolist() == [True, True] + [False] * 39, judged.allowed
    (judged,) = told(
        Plain(lambda t: (t * 0.3).topk(1)[1].reshape(-1).flip(0)),
        [torch.cat([near[:1], drawn(40, 4) + torch.arange(4.0) * 9])],
    )[2]
    assert judged.allowed.isinf().tolist() == [False] * 40 + [True] and judged.dropped is None


def what_a_choice_leaves_open_is_not_judged_and_the_rest_is():
    """A masked logit is -inf or a number. Another mask is as right, but no solution is right by a number
    beside it. Where one element in 16 is open, the answer is dropped."""
    rows = torch.arange(80.0).reshape(2, 40)
    rows[0, 5] = 1.0

    def masked(t, to_be=torch.gt):
        return (t * 0.3).masked_fill(to_be(t * 0.3, 0.3), -math.inf)

    open_ = rows == 1
    for to_be in (torch.gt, torch.ge):  # the number, or -inf
        judged = told(Plain(lambda t: masked(t, to_be)), [rows])[2][0]
        assert judged.dropped is None and judged.untold == 2, (judged.dropped, judged.untold)
        assert bool((judged.allowed.isinf() == open_).all()) and not bool(judged.allowed.isnan().any())
    again = told(Plain(lambda t: torch.where(t > 100, t, masked(t)).reshape(-1).flip(0)), [rows])[2][0]
    assert bool((again.allowed.isinf() == open_.reshape(-1).flip(0)).all())
    assert told(Plain(masked), [rows.clamp(max=1)])[2][0].dropped


def a_number_is_what_it_is():
    """The comparison asks for NaN. PyTorch's own logaddexp asks so whether both of its operands are the
    same infinity."""
    for asks in (lambda y, t: torch.where(y == y, t * 3, 7.0), lambda y, t: torch.where(y != y, 7.0, t * 3)):
        judged = told(Plain(lambda t: asks(t * 0.3, t)), [drawn(3, 4)])[2]
        assert judged[0].dropped is None, judged[0].dropped
        assert passes(judged, drawn(3, 4) * 3) and not passes(judged, drawn(3, 4) * 0 + 7)


def nearest(image, size, mode, scale=None):
    """By whole numbers, as a kernel may have it; with a scale in fp64."""
    for d, made in zip(range(2, image.dim()), size):
        at, extent, half = torch.arange(made), image.shape[d], int(mode == "nearest-exact")
        place = (
            (2 * at + half) * extent // (2 * made)
            if scale is None
            else ((at + half / 2).double() / scale).long()
        )
        image = image.index_select(d, place.clamp(max=extent - 1))
    return image


def the_nearest_pixel_has_a_rule_in_every_dimension_and_mode():
    for mode in ("nearest", "nearest-exact"):
        other = "nearest" if mode == "nearest-exact" else "nearest-exact"
        for shape, size in (
            ((2, 3, 7), (10,)),
            ((2, 3, 7, 5), (15, 12)),
            ((1, 2, 5, 4, 6), (7, 9, 3)),
            ((2, 1, 49, 3), (7, 98)),
        ):
            image = drawn(*shape)
            resized = Plain(lambda t: F.interpolate(t, size=size, mode=mode))
            assert refusal(resized, [image]) == "", (mode, shape)
            judged = told(resized, [image])[2]
            assert passes(judged, resized(image)) and passes(judged, nearest(image, size, mode)), (
                mode,
                shape,
            )
            assert not passes(judged, nearest(image, size, other)), (mode, shape)
        for factor in (2, 1.7, 0.6, (1.5, 0.75)):
            image = drawn(2, 3, 9, 8)
            scaled = Plain(lambda t: F.interpolate(t, scale_factor=factor, mode=mode))
            assert passes(told(scaled, [image])[2], scaled(image)), (mode, factor)
            if factor == 1.7:
                size = scaled(image).shape[2:]
                assert passes(told(scaled, [image])[2], nearest(image, size, mode, factor)), mode
                # its ratio is another
                assert not passes(told(scaled, [image])[2], F.interpolate(image, size=size, mode=mode)), mode


def a_pixels_edge_is_left_to_rounding_and_nothing_else_is():
    from unseen_torch.oracle import sampling

    for extent in range(1, 41):
        for made in range(1, 61):
            for exact in (False, True):
                least, greatest = sampling.nearest_places(extent, made, None, exact)
                at = 2 * torch.arange(made) + int(exact)
                whole = (at * extent // (2 * made)).clamp(max=extent - 1)
                assert bool(((least <= whole) & (whole <= greatest) & (greatest - least <= 1)).all()), (
                    extent,
                    made,
                )
                edge = at * extent % (2 * made) == 0
                assert bool((edge | (least == greatest)).all()), (extent, made)
                own = F.interpolate(
                    torch.arange(float(extent))[None, None],
                    size=made,
                    mode="nearest-exact" if exact else "nearest",
                )
                assert bool(((least <= own[0, 0]) & (own[0, 0] <= greatest)).all()), (extent, made)


TESTS = [
    what_hangs_on_values_is_told,
    a_number_is_what_it_is,
    what_a_choice_leaves_open_is_not_judged_and_the_rest_is,
    a_choice_among_equal_ones_is_open_in_a_mask,
    computed_numbers_are_cast_where_their_bounds_agree,
    places_are_computed_of_whole_numbers,
    elements_are_written_into_places,
    targets_may_be_ignored_or_weighed,
    a_mask_of_infinities_is_added_exactly,
    places_orders_and_spreads_have_rules,
    a_place_that_is_written_twice_has_no_right_answer,
    a_slot_for_what_is_dropped_matters_nothing,
    equal_ones_in_order_share_their_mask,
    samples_between_pixels,
    beside_a_jump_both_sides_are_right,
    elements_are_picked_by_order_and_place,
    who_is_chosen_among_equal_ones_hangs_on_that_alone,
    an_index_of_another_type_names_what_it_named,
    rows_that_may_be_listed_go_their_own_ways,
    what_a_constructor_computes_may_be_computed_otherwise,
    the_nearest_pixel_has_a_rule_in_every_dimension_and_mode,
    a_pixels_edge_is_left_to_rounding_and_nothing_else_is,
]
