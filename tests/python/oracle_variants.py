"""Shared by the tests of operations: honest variants that must pass, and faulty ones that must not."""

import candidates
import torch
from oracle_asked import passes, told


def shifted(out, by=1e-3):
    """A little off everywhere, by a part of the size."""
    sign = torch.ones(out.numel())
    sign[::2] = -1
    return out + by * out.abs().amax() * sign.reshape(out.shape)


def variants_pass(name, model, inputs, honest=(), faulty=()):
    """Eager, fp64 and another order pass, and `honest` ones; `faulty` ones and a small shift do not."""
    graph, state, judged = told(model, inputs)
    assert not any(j.dropped for j in judged), (name, [j.dropped for j in judged])
    with torch.no_grad():
        eager = model(*inputs)
        eager = [eager] if isinstance(eager, torch.Tensor) else list(eager)
        assert passes(judged, eager), f"{name}: eager is rejected"
        narrow = name in ("scaled", "grouped")
        if not narrow:  # which 8 and 16 bits alone have
            double = [
                t.float() if t.is_floating_point() else t
                for t in candidates.run(graph, state, inputs, double=True)
            ]
            assert passes(judged, double), f"{name}: fp64 is rejected"
        assert passes(judged, candidates.run(graph, state, inputs, candidates.reordered(3))), (
            f"{name}: another order is rejected"
        )
        for k, other in enumerate(honest):
            assert passes(judged, other(*inputs)), f"{name}: the honest variant {k} is rejected"
        assert not passes(judged, [shifted(t, 0.05) if narrow else shifted(t) for t in eager]), (
            f"{name}: a shift passes"
        )
        for k, other in enumerate(faulty):
            assert not passes(judged, other(*inputs)), f"{name}: the faulty variant {k} passes"
