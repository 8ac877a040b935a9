"""The interpreter's part of the runner: it loads a candidate, binds it to tensors, calls it and takes its results."""
