"""Weights that a constructor finds in its parameters as soon as they are there.

Whoever checks a task constructs its Model and a candidate's from one seed, and compares what they answer; what the candidate's constructor
makes of its parameters (a transposed copy, a parameter of another shape and name) is made of the right ones. Drawn weights that are
loaded afterwards would leave it as it was. So the parameters that a candidate registers hold, in their order, what those of the task's own
Model are given, from the moment on at which they are registered, and no initialization of torch's touches them after that.
"""
import torch

DRAWS = tuple(getattr(torch.Tensor, name) for name in (
    "uniform_", "normal_", "fill_", "zero_", "exponential_", "cauchy_", "log_normal_", "geometric_", "random_", "bernoulli_"))


class _Watching(torch.overrides.TorchFunctionMode):
    """While it is entered, `take` sees each parameter that a module registers, once; of those that it answers True to what draws or fills
    keeps off: torch's initializers, by whatever name they were imported."""

    def __init__(self):
        super().__init__()
        self.seen = {}

    def take(self, parameter):
        raise NotImplementedError

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if function in DRAWS or getattr(function, "__module__", None) == "torch.nn.init":
            tensor = args[0] if args else kwargs.get("tensor")
            if self.seen.get(id(tensor), (None, False))[1]:
                return tensor
        return function(*args, **kwargs)

    def __enter__(self):
        self.register = torch.nn.Module.register_parameter

        def register(module, name, parameter):
            if parameter is not None and id(parameter) not in self.seen:
                self.seen[id(parameter)] = parameter, self.take(parameter)
            self.register(module, name, parameter)

        torch.nn.Module.register_parameter = register
        return super().__enter__()

    def __exit__(self, *error):
        torch.nn.Module.register_parameter = self.register
        return super().__exit__(*error)


class Order(_Watching):
    """Which parameters a model has, in the order in which they are registered."""

    def take(self, parameter):
        return True

    def of(self, model):
        """[(name in the state dict, None where the model has it no more, shape)]"""
        names = {id(parameter): name for name, parameter in model.named_parameters()}
        return [(names.get(key), tuple(parameter.shape)) for key, (parameter, _) in self.seen.items()]


class Placing(_Watching):
    """Gives parameters, in the order of `expected`, what `weights` has under their names; from the first on that has another shape
    none any more."""

    def __init__(self, expected, weights):
        super().__init__()
        self.expected, self.weights, self.place = expected, weights, 0
        self.is_off = False

    def take(self, parameter):
        if self.is_off or self.place == len(self.expected):
            return False
        name, shape = self.expected[self.place]
        self.is_off = tuple(parameter.shape) != shape
        self.place += not self.is_off
        if self.is_off or name not in self.weights or not parameter.dtype.is_floating_point:
            return False
        with torch.no_grad():
            parameter.copy_(self.weights[name])
        return True

    def has_all(self):
        return not self.is_off and self.place == len(self.expected) and set(self.weights) <= {n for n, _ in self.expected}
