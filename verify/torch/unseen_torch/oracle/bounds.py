"""Types of bounds, and of the functions that make them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Optional, Union

import torch

Bound = Optional[torch.Tensor]  # of an error, or a mask; None stands for none anywhere
Runs = Optional[list[torch.Tensor]]
Error = Union[torch.Tensor, float]  # an operation's own error; 0 if it has none
Propagated = Callable[[int], Bound]  # from a level, 0 for r and 1 for b
Local = Callable[[float], Error]  # from a unit roundoff
OfRun = Callable[[int], torch.Tensor]  # from the number of a run
Function = Callable[..., torch.Tensor]
Sides = tuple[torch.Tensor, torch.Tensor]  # the least and the greatest value of each element
Expanded = tuple[torch.Tensor, torch.Tensor, int]  # sizes of an expanded sum (expanded.py)
Ways = Callable[[], list[torch.Tensor]]  # an index in every run (ties.py)
