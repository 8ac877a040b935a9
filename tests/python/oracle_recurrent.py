"""Cases of test_oracle.py: recurrent layers of the library, which are split into steps after the model was
traced."""

import torch
from oracle_asked import Plain, drawn
from torch import nn
from unseen_torch.oracle import evaluate, task_session
from unseen_torch.oracle import graph as graphs

KINDS = {"gru": 3, "lstm": 4, "rnn_tanh": 1, "rnn_relu": 1}


def layer(kind, ways, biased, batch_first):
    """A function of the inputs and of the weights of one layer, and its arguments."""
    gates = KINDS[kind]
    shapes = ((gates * 5, 7), (gates * 5, 5), *([(gates * 5,)] * 2 if biased else []))
    weights = [
        drawn(*shape, seed=number + 40 * way, size=0.4)
        for way in range(ways)
        for number, shape in enumerate(shapes)
    ]

    def function(x, *weights):
        state = torch.zeros(ways, 3, 5, dtype=x.dtype)
        return getattr(torch, kind)(
            x,
            (state, state) if kind == "lstm" else state,
            list(weights),
            biased,
            1,
            0.0,
            False,
            ways == 2,
            batch_first,
        )[0]

    return function, [drawn(*((3, 4) if batch_first else (4, 3)), 7), *weights]


LAYERS = {
    "gru": layer("gru", 1, True, False),
    "gru_both": layer("gru", 2, True, True),
    "lstm": layer("lstm", 2, True, False),
    "lstm_plain": layer("lstm", 1, False, True),
    "rnn_tanh": layer("rnn_tanh", 2, True, True),
    "rnn_relu": layer("rnn_relu", 1, True, False),
}


class Given(nn.Module):
    """A recurrent module, its first states and the used part of its results."""

    def __init__(self, made, states=None):
        super().__init__()
        torch.manual_seed(3)
        self.made, self.states = made(), states

    def forward(self, x):
        states = None if self.states is None else tuple(s.to(x.dtype) for s in self.states)
        out, last = self.made(x, states if states is None or len(states) > 1 else states[0])
        last = last if isinstance(last, tuple) else (last,)
        return (out, *last)


LONG, SHORT = drawn(5, 2, 6), drawn(5, 6)
MODULES = [
    (Given(lambda: nn.GRU(6, 4, 3)), LONG),
    (Given(lambda: nn.LSTM(6, 4, 2, bidirectional=True)), LONG),
    (
        Given(lambda: nn.LSTM(6, 4, 2, batch_first=True), (drawn(2, 5, 4, seed=8), drawn(2, 5, 4, seed=9))),
        LONG,
    ),
    (
        Given(
            lambda: nn.GRU(6, 4, 2, bias=False, bidirectional=True, batch_first=True),
            (drawn(4, 5, 4, seed=8),),
        ),
        LONG,
    ),
    (Given(lambda: nn.RNN(6, 4, 2, nonlinearity="relu", bidirectional=True)), LONG),
    (Given(lambda: nn.RNN(6, 4)), SHORT),
    (Given(lambda: nn.LSTM(6, 4, 2, dropout=0.5).eval()), LONG),
    (Given(lambda: nn.GRU(6, 4)), drawn(1, 1, 6)),
    (Given(lambda: nn.LSTM(6, 4, proj_size=3)), LONG),  # traced step by step
]


def steps_are_what_a_recurrent_layer_computes():
    """Every option of the modules: each result is within twice the radius of the module's own in fp64, and
    eager is right."""
    for number, (model, x) in enumerate(MODULES):
        graph, state = graphs.trace(model, [x]), graphs.state_of(model)
        names = {str(node.target) for node in graph.nodes}
        assert not any("unseen" in name for name in names) and graph.recurrent, number
        with torch.no_grad():
            judged, eager = evaluate.answer(graph, state, [x]), model(x)
            double = model.double()(x.double())
            model.float()
        assert len(judged) == len(eager)
        for j, got, want in zip(judged, eager, double):
            assert j.want.shape == got.shape and j.enclosed, number
            assert bool(((want - j.want).abs() <= 2 * j.radius).all()), number
            assert bool(((got.double() - j.want).abs() <= j.allowed).all()), number


def a_recurrent_layer_is_not_traced_step_by_step():
    """A further step adds less than one call to the tracer, and chance between layers is found."""
    for kind in (nn.GRU, nn.LSTM, nn.RNN):
        calls = []
        for steps in (2, 64):
            with Counting() as counting:
                graphs.trace(Given(lambda: kind(6, 4, 2)), [drawn(steps, 2, 6)])
            calls.append(counting.calls)
        assert calls[1] < calls[0] + 62, (kind, calls)
    assert graphs.trace(Given(lambda: nn.LSTM(6, 4, 2, dropout=0.5)), [LONG]).random()


def what_is_small_is_computed_on_the_host():
    """It ignores the GPU. There is none here, so a large graph fails for that."""

    def listed(t, w):  # how many rows there are hangs on values
        rows = torch.where(t[:, 0] * 3 > 0)[0]
        return torch.zeros_like(t).index_add_(0, rows, t[rows] @ w)

    for function, inputs, small in (
        (torch.mm, [drawn(8, 8), drawn(8, 8)], True),
        (torch.relu, [drawn(256, 256)], False),
        (listed, [drawn(8, 8), drawn(8, 8)], False),
        (torch.mm, [drawn(8, 1 << 16), drawn(1 << 16, 8)], False),
    ):

        class Task(task_session.Task):
            def __init__(self):
                self.device, self.description, self.stateless = "cuda", {"inputs": []}, False

            def prepared(self, sizes, tensors):
                return graphs.trace(Plain(function), inputs), {}, inputs, Plain(function)

        assert graphs.trace(Plain(function), inputs).is_small() == small
        if small:
            (judged,), same = task_session.answers(Task(), {}, {})
            assert judged.want.device.type == "cpu" and not same
        elif not torch.cuda.is_available():
            try:
                task_session.answers(Task(), {}, {})
            except (AssertionError, RuntimeError) as error:
                assert "CUDA" in str(error) or "NVIDIA" in str(error), error
            else:
                raise Exception("it was computed on the host")


class Counting(torch.overrides.TorchFunctionMode):
    calls = 0

    def __torch_function__(self, function, types, args=(), kwargs=None):
        # who looks at a shape computes nothing
        self.calls += getattr(function, "__name__", "") != "__get__"
        return function(*args, **(kwargs or {}))


TESTS = [
    steps_are_what_a_recurrent_layer_computes,
    a_recurrent_layer_is_not_traced_step_by_step,
    what_is_small_is_computed_on_the_host,
]
