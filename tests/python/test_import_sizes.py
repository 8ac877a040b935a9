"""Tests of unseen_torch/task: sizes of which only some values run, extents that are no product of sizes.
Run by the suite task, or by hand with any Python that has torch."""

from importing import NO_INIT, fills, imported, run
from unseen_torch.task import expression, fit, write

WAVES = """
class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.layer = nn.Linear(width, 4)

    def forward(self, t):
        angle = t * torch.arange(1, (self.width - 1) // 2 + 1)
        return self.layer(torch.cat([t, angle.cos(), angle.sin()], -1))


rows, width = 6, 7


def get_inputs():
    return [torch.rand(rows, 1)]


def get_init_inputs():
    return [width]
"""

STREAMS = """
class Model(nn.Module):
    def __init__(self, streams):
        super().__init__()
        self.streams = streams
        self.mix = nn.Parameter(torch.randn(5, streams * streams + 2 * streams))

    def forward(self, x):
        n, y = self.streams, x @ self.mix
        return y[:, :n] * y[:, n : 2 * n], y[:, 2 * n :].unflatten(-1, (n, n)).softmax(-1)


rows, streams = 6, 4


def get_inputs():
    return [torch.randn(rows, 5)]


def get_init_inputs():
    return [streams]
"""

UPDATE = (
    """
class Model(nn.Module):
    def forward(self, state, x):
        state.mul_(0.5).add_(x)
        return state.sum(-1)


rows = 6


def get_inputs():
    return [torch.randn(rows, 5), torch.randn(rows, 5)]


"""
    + NO_INIT
)

GROUPED = (
    """
class Model(nn.Module):
    def forward(self, q, k):
        k = k.repeat_interleave(q.shape[1] // k.shape[1], dim=1)
        return (q * k).sum(-1)


rows, heads, kv_heads = 6, 4, 1


def get_inputs():
    return [torch.randn(rows, heads, 5), torch.randn(rows, kv_heads, 5)]


"""
    + NO_INIT
)

ROTARY = """
class Model(nn.Module):
    def __init__(self, width, turned):
        super().__init__()
        self.turned = turned
        self.register_buffer("angle", torch.arange(0, turned, 2).float())

    def forward(self, x):
        a, b = x[..., : self.turned].chunk(2, dim=-1)
        c, s = self.angle.cos(), self.angle.sin()
        return torch.cat([a * c - b * s, b * c + a * s, x[..., self.turned :]], -1)


rows, width, turned = 6, 32, 32


def get_inputs():
    return [torch.randn(rows, width)]


def get_init_inputs():
    return [width, turned]
"""

SLOTS = (
    """
class Model(nn.Module):
    def forward(self, x, cache, slots):
        cache = cache.clone()
        kept = slots >= 0
        places = torch.where(kept, slots, 0)
        flat = cache.view(-1, cache.shape[-1])
        return flat.index_add(0, places, torch.where(kept[:, None], x, 0.0)).view_as(cache)


tokens, padded, width, blocks, block_size = 24, 0, 5, 6, 16


def get_inputs():
    slots = torch.randperm(blocks * block_size)[:tokens]
    slots[tokens - padded :] = -1
    return [torch.randn(tokens, width), torch.randn(blocks, block_size, width), slots]


"""
    + NO_INIT
)

DRAFTS = (
    """
class Model(nn.Module):
    def forward(self, x, ends):
        sums = torch.cat([x.new_zeros(1), x.cumsum(0)])[ends.long()]
        return torch.diff(sums, prepend=x.new_zeros(1))


batch, longest, least, extra = 8, 5, 1, 14
SEED = 0


def get_inputs():
    slots = torch.randperm(batch * (longest - least))[:extra] % batch
    lengths = least + torch.bincount(slots, minlength=batch)
    return [torch.randn(batch * least + extra), lengths.cumsum(0)]


"""
    + NO_INIT
)


BY_TABLE = (
    """
rows, width, turned, table, heads = 6, 32, 16, 128, 3


class Model(nn.Module):
    def forward(self, x, cos, at):
        head, rest = x[..., : 2 * cos.shape[-1]], x[..., 2 * cos.shape[-1] :]
        by = cos[at].repeat_interleave(2, -1)[:, None]
        swapped = torch.stack([head[..., 1::2], head[..., 0::2]], -1).flatten(-2)
        return torch.cat([head * by + swapped * by, rest], -1)


def get_inputs():
    return [torch.randn(rows, heads, width), torch.rand(table, turned // 2), torch.randint(0, table, (rows,))]


"""
    + NO_INIT
)


def axis(task, name):
    return next(a for a in task["axes"] if a["name"] == name)


def a_size_of_which_odd_values_run_varies():
    task = imported(WAVES)
    width = axis(task, "width")
    assert (width["step"], width["rest"]) == (2, 1) and width["low"] < 7 < width["high"], width
    assert "limit width % 2 == 1" in write.space(task)


def an_extent_may_be_quadratic():
    streams = axis(imported(STREAMS), "streams")
    assert streams["low"] < 4 < streams["high"], streams


def sizes_without_a_result_do_not_run():
    task = imported(GROUPED)
    assert axis(task, "kv_heads")["high"] >= 4 and task["limits"] == ["heads % kv_heads == 0"], task["limits"]


def a_part_may_be_smaller_than_the_published_whole():
    task = imported(ROTARY)
    turned = axis(task, "turned")
    assert (turned["low"], turned["high"], turned["step"]) == (2, 32, 2), turned
    assert axis(task, "width")["high"] > 32, task["axes"]


def padding_of_which_none_is_published_varies():
    task = imported(SLOTS)
    padded = axis(task, "padded")
    assert padded["low"] == 0 and padded["high"] > 4, padded
    assert fills(task)["slots"]["kind"] == "computed", fills(task)


def a_slice_that_is_clipped_is_a_limit():
    # the first raises where slots are fewer than tokens, the second does not
    for text in (
        SLOTS,
        SLOTS.replace("0.0))", "0.0)[: len(x)])").replace(
            "kept[:, None], x,", "kept[:, None], x[: len(slots)],"
        ),
    ):
        task = imported(text)
        assert axis(task, "tokens")["high"] > 64, task["fixed"]
        assert "tokens <= blocks*block_size" in task["limits"], task["limits"]


def a_limit_may_exclude_some_sizes_that_run():
    """An odd part of an even width runs, since its last column is dropped."""
    task = imported(BY_TABLE)
    assert "turned <= width" in task["limits"], task["limits"]
    for name in ("rows", "heads", "width", "turned", "table"):
        assert axis(task, name)["low"] < axis(task, name)["high"], (name, task["axes"])


def a_least_count_may_be_0():
    task = imported(DRAFTS)
    assert axis(task, "least")["low"] == 0 and "least + extra > 0" in task["limits"], task["limits"]
    assert not any(a["name"] == "SEED" for a in task["axes"]), task["axes"]


def inputs_that_small_runs_leave_no_choice_are_drawn():
    assert fills(imported(DRAFTS))["ends"]["kind"] == "computed"


def quadratic_extents_hold_elsewhere():
    for of in (lambda n: n * n + 2 * n, lambda n: n * (n - 1) // 2, lambda n: 3 * n * n + n + 1):
        text = fit.extent({"n": 4}, [({"n": n}, of(n)) for n in (4, 5, 6, 3, 2, 8, 9)])
        assert text and all(expression.evaluate(text, {"n": n}) == of(n) for n in (1, 20, 100)), text


def the_page_names_what_is_written_in_out():
    page = write.readme(imported(UPDATE))
    assert "| `state` | float32 | [rows, " in page and "| in-out |" in page, page
    assert page.count("| in-out |") == 1 and page.count("| input |") == 1, page


if __name__ == "__main__":
    run(globals(), ("axis",))
