"""Values of an image between its pixels."""
import torch

from .elementwise import rule
from .number import add_bounds, moved
from .shape import operator

BILINEAR, NEAREST, BORDER = 0, 1, 1  # as ATen counts modes and paddings
# A place is (g + 1) n / 2 - 1/2: a sum, two products and a difference, each of at most |g| + 1 times the extent.
PLACE = 4
WEIGHED = 8  # a weight is a product of differences; of four corners, or eight


def _moving(g, e, x):
    """How far an error `e` of the grid moves what is picked, times what a pixel's neighbours may differ: along each dimension by twice
    the greatest one near. g, e: [.., axes], the last dimension of x first; the grid's error in its own units is half an extent of pixels."""
    axes = g.shape[-1]
    pool = torch.nn.functional.max_pool2d if axes == 2 else torch.nn.functional.max_pool3d
    near = torch.ops.aten.grid_sampler_2d if axes == 2 else torch.ops.aten.grid_sampler_3d
    size = near(pool(x.abs(), 5, stride=1, padding=2), g, NEAREST, BORDER, False)
    pixels = sum(e[..., k] * x.shape[-1 - k] / 2 for k in range(axes))
    return 2 * size * pixels.unsqueeze(1)


@rule("aten.grid_sampler_2d.default", "aten.grid_sampler_3d.default")
def grid_sampler(cx, x, grid, mode, padding, align):
    """Bilinear alone: it is continuous in the grid, unlike the pixel that a place's whole part names."""
    sample = operator(cx.name)
    f = lambda t, g: sample(t, g, BILINEAR, padding, align)

    def propagated(level):
        ex, eg = x.error(level), grid.error(level)
        return add_bounds(None if ex is None else f(ex, grid.v), None if eg is None else _moving(grid.v, eg, x.v))

    place = (grid.v.abs() + 1) * PLACE
    local = lambda u: _moving(grid.v, u * place, x.v) + u * WEIGHED * f(x.v.abs(), grid.v)
    return cx.out(f(x.v, grid.v), propagated, local, moved(f, x, grid))
