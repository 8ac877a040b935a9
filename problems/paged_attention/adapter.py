"""KernelBench-Hard 03: `Model(**sizes)`, `forward(inputs)`."""


def bind(entry, call):
    s = call.scalars
    longest = s["pages_per_seq"] * s["page_size"]
    return call.model(entry, init=(s["batch"], s["heads"], s["kv_heads"], s["head_dim"], longest, s["page_size"]),
                      state={}, forward=("query", "kv_cache", "block_table", "seq_lens"))
