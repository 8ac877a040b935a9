"""Tests of importing tasks whose forward reads numbers, picks places and calls operations without checks.

The suite task runs them, and any Python that has torch can."""

import torch
from importing import NO_INIT, fills, imported, run
from unseen_torch.task import checked

SORTED = f"""
class Model(nn.Module):
    def forward(self, ids):
        flat = ids.flatten()
        out = torch.full((flat.numel() + EXPERTS * 15,), flat.numel(), dtype=torch.int32)
        of = torch.zeros(out.numel() // 16, dtype=torch.int32)
        at = 0
        for e in range(EXPERTS):
            slots = torch.nonzero(flat == e).flatten()
            out[at : at + slots.numel()] = slots.int()
            blocks = -(-slots.numel() // 16)
            of[at // 16 : at // 16 + blocks] = e
            at += blocks * 16
        return out, of


TOKENS, TOPK, EXPERTS = 24, 4, 8


def get_inputs():
    return [torch.stack([torch.randperm(EXPERTS)[:TOPK] for _ in range(TOKENS)]).int()]


{NO_INIT}"""


def places_are_picked_into_blocks():
    """Half of each mask would be too much together. A slice holds at most as many as there are."""
    task = imported(SORTED)
    assert "TOKENS" in {a["name"] for a in task["axes"]}, task["axes"]
    ids, of = (o["shape"][0] for o in task["outputs"])
    assert "TOKENS" in ids and "TOKENS" in of, task["outputs"]


PLACED = f"""
class Model(nn.Module):
    def forward(self, x, rois):
        out = x.new_zeros(rois.shape[0], x.shape[1])
        for r, roi in enumerate(rois.tolist()):
            low, high = int(roi[1]), int(roi[2])
            if high > low:
                out[r] = x[int(roi[0]), :, low:high].mean(1)
        return out


images, channels, width, boxes = 2, 3, 12, 5


def get_inputs():
    low = torch.rand(boxes, 1) * 5
    of = torch.randint(0, images, (boxes, 1))
    return [torch.randn(images, channels, width), torch.cat([of, low, low + 4], 1)]


{NO_INIT}"""


def a_number_that_is_read_may_be_a_place():
    task = imported(PLACED)
    assert {"channels", "boxes"} <= {a["name"] for a in task["axes"]}, task["axes"]
    assert task["outputs"][0]["shape"] == ["boxes", "channels"], task["outputs"]


PICKED = f"""
class Model(nn.Module):
    def forward(self, a):
        area = (a[:, 0] * a[:, 1]).clone()
        area[area < 0.5] = area[area < 0.5] * 2
        return area


rows = 6


def get_inputs():
    return [torch.rand(rows, 2)]


{NO_INIT}"""


def a_mask_may_pick_what_is_written():
    assert [a["name"] for a in imported(PICKED)["axes"]] == ["rows"]


COUNTED = f"""
class Model(nn.Module):
    def forward(self, ends, x):
        return x * ends.sum()


groups, most, more = 8, 5, 14


def get_inputs():
    slots = torch.randperm(groups * (most - 1))[:more] % groups
    ends = (1 + torch.bincount(slots, minlength=groups)).cumsum(0).int()
    return [ends, torch.randn(groups + more)]


{NO_INIT}"""


def a_draw_without_choice_at_small_sizes_is_no_constant():
    """At small sizes `more` fills all slots, so that each group has `most` elements."""
    assert fills(imported(COUNTED))["ends"] == {"kind": "computed"}


def an_index_out_of_range_fails():
    checked.install()
    grad, at = torch.randn(3, 4), torch.tensor([0, 2, 2])
    plain = torch.zeros(5, 4).index_add(0, at, grad)
    assert torch.equal(torch.ops.aten.embedding_dense_backward(grad, at, 5, -1, False), plain)
    scaled = torch.ops.aten.embedding_dense_backward(grad, at, 5, 0, True)
    assert torch.allclose(scaled[2], plain[2] / 2) and not bool(scaled[0].any())
    try:
        torch.ops.aten.embedding_dense_backward(grad, at, 2, -1, False)
    except IndexError as error:
        assert "out of range for 2 rows" in str(error)
    else:
        raise AssertionError("a write beyond the table")


if __name__ == "__main__":
    run(globals(), ("imported", "fills"))
