# state: w_gate w_up
"""KernelBench-Hard 06: `Model(**sizes)`, `forward(inputs)`, its weights by the names of its state dict."""


def bind(entry, call):
    s = call.scalars
    copies = 8 if s["tokens"] % 8 == 0 else 1  # experts that a token visits; tokens here are rows of all visits
    return call.model(entry, init=(s["tokens"] // copies, s["hidden_dim"], s["inter_dim"], s["experts"], copies),
                      state={"W_gate": "w_gate", "W_up": "w_up"}, forward=("hidden", "expert_offsets"))
