"""All rules: each import registers those of a module in elementwise.RULES, or in complexes.COMPLEX."""

from __future__ import annotations

from . import (  # noqa: F401
    activations,
    algebra,
    choices,
    complexes,
    discontinuous,
    elementwise,
    expanded,
    factors,
    fourier,
    gradients,
    losses,
    masked_rows,
    matrix_functions,
    norms,
    pooling,
    products,
    resized,
    routes,
    sampling,
    scans,
    scatter_sort,
    selected,
    shape,
    softmax,
    sorting,
    special_functions,
    sums,
    wholes,
)
