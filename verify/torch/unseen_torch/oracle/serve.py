"""The oracle's process. verify/torch starts it with a socket as descriptor 3. It never sees the candidate.

The first packet names the task. Each further packet holds a question about a configuration, and the places of its
tensors in a shared memory. The memory's descriptor comes with the packet if it is new. The answer's first line is
`ok`, or the reason after `dropped`, `short` or `failed`. It is `returned` if the answer depends on results that the
question did not bring. After `ok`, there is one line for each output.
"""

from __future__ import annotations

import array
import ctypes
import fcntl
import json
import mmap
import os
import socket
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

    from .evaluate import Judged

CHANNEL = 3
PACKET = 1 << 17
SHARE = 64  # of a GPU's memory, one part in so many is kept between questions

Question = dict[str, Any]  # a packet's JSON (verify/torch/oracle_packet.c)


def receive(channel: socket.socket) -> tuple[Any, int | None]:
    """Returns (a packet as JSON, the descriptor that came with it or None)."""
    data, ancillary, _, _ = channel.recvmsg(PACKET, socket.CMSG_SPACE(4))
    descriptor = None
    for level, kind, content in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            numbers = array.array("i")
            numbers.frombytes(content[:4])
            descriptor = numbers[0]
    return (json.loads(data) if data else None), descriptor


def one_line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:600]


def keep_memory() -> Callable[[], Any] | None:
    """Makes malloc keep freed memory in the process. The system clears new pages one by one, which takes half of the
    time for tensors of many MiB. Returns a function that releases the memory, or None if malloc is not that of
    glibc."""
    libc, trim_threshold, mmap_max = ctypes.CDLL(None), -1, -4  # constants of its malloc.h
    if not hasattr(libc, "mallopt") or not hasattr(libc, "malloc_trim"):
        return None
    libc.mallopt(mmap_max, 0)
    libc.mallopt(trim_threshold, (1 << 31) - 1)
    return lambda: libc.malloc_trim(0)


def _inside(judged: Judged) -> tuple[slice, ...]:
    """The part of an output's memory that holds the answer. Elements beyond it are 0."""
    return tuple(slice(n) for n in judged.want.shape)


class Server:
    def __init__(self, channel: socket.socket, hello: Question) -> None:
        # Warnings must not follow the error: its lines should be the last ones.
        warnings.simplefilter("ignore")
        self.trim = keep_memory() if hello.get("plenty") else None
        import torch

        from ..task import checked
        from . import task_session

        checked.install()
        torch.set_num_threads(max(1, int(hello["threads"])))
        torch.backends.cudnn.deterministic = True
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        self.channel, self.torch, self.opened = channel, torch, task_session
        self.memory: mmap.mmap | None = None
        device = "cuda" if hello["device"] == "cuda" and torch.cuda.is_available() else "cpu"
        self.task = task_session.Task(hello["task"], device)

    def view(self, tensor: Question, at: int) -> torch.Tensor:
        """A tensor over the shared memory."""
        import torch

        shape, dtype = tensor["shape"], getattr(torch, tensor["dtype"])
        count = 1
        for extent in shape:
            count *= extent
        if count == 0:
            return torch.zeros(shape, dtype=dtype)
        values: torch.Tensor = torch.frombuffer(self.memory, dtype=dtype, count=count, offset=at)
        return values.reshape(shape)

    def unfit(self, judged: Sequence[Judged], outputs: Sequence[Question]) -> str | None:
        """Returns the answer if the references do not fit the outputs, or are dropped. None: neither."""
        from ..task import varying

        if len(judged) != len(outputs):
            return f"failed the task has {len(judged)} outputs; {len(outputs)} were expected"
        dims = self.task.varying()
        for j, output in zip(judged, outputs):
            if not varying.fits(j.want.shape, output["shape"], dims.get(output["name"], ())):
                shape = f"{list(j.want.shape)}; {output['shape']} was expected"
                return f"failed output {output['name']} has shape {shape}"
            if j.dropped:
                return f"dropped {j.dropped}"
        return None

    def answer(self, question: Question) -> str:
        from . import returned, sides

        given = {t["name"]: self.view(t, t["at"]).clone() for t in question["inputs"]}
        judged, constant = self.opened.answers(self.task, question["sizes"], given, question.get("seed", 1))
        outputs = question["outputs"]
        why = next((w for w in (self.unfit(way, outputs) for way in judged.ways) if w), None)
        if why:
            return why
        # The first question about a task does not bring results that are no whole numbers.
        several = len(judged.ways) > 1 or any(j.signs is not None for j in judged)
        if several and not question.get("returned"):
            return "returned"
        if len(judged.ways) > 1:
            judged = sides.nearest(judged.ways, [self.view(o, o["got"]) for o in outputs])
        lines = ["ok"]
        got = [
            self.view(o, o["got"])[_inside(j)].to(j.want.device)
            if "got" in o and (not j.number.is_float or question.get("returned"))
            else None
            for j, o in zip(judged, outputs)
        ]
        for j, output, want in zip(judged, outputs, returned.wanted(judged, got)):
            for name, values in (("want", want), ("allowed", j.allowed)):
                place = self.view({"shape": output["shape"], "dtype": "float64"}, output[name])
                if j.want.shape != place.shape:
                    place.zero_()
                place[_inside(j)].copy_(values)  # from a GPU without a copy on the host
            lines.append(
                f"{'enclosed' if j.enclosed else 'fp64'} {'ensemble' if j.ensemble else 'bound'} "
                f"{'constant' if constant else 'varies'} {j.relative:.3g}{' open' if j.untold else ''}"
            )
        return "\n".join(lines)

    def make(self, question: Question) -> str:
        """Writes the inputs of the task's own get_inputs into the shared memory, as float32 or int32."""
        torch = self.torch
        try:
            made = self.task.made(question["sizes"], question["make"], question.get("class"))
        except Exception as error:  # the task's own code may raise any exception
            if self.is_short(error):
                raise
            return f"dropped the task's get_inputs does not run here: {one_line(error)}"
        for t in question["inputs"]:
            value = made[t["name"]]
            if list(value.shape) != list(t["shape"]):
                return (
                    f"dropped the task's get_inputs makes {t['name']} of shape {list(value.shape)} here, of which importing found no "
                    f"law; {t['shape']} was expected"
                )
            kind = "float32" if value.dtype.is_floating_point else "int32"
            if (
                kind == "int32"
                and value.numel()
                and not -1 << 31 <= int(value.min()) <= int(value.max()) < 1 << 31
            ):
                return f"dropped the task's get_inputs makes numbers of more than 32 bits here: {t['name']}"
            self.view({"shape": t["shape"], "dtype": kind}, t["at"]).copy_(value.to(getattr(torch, kind)))
        return "made"

    def admits(self, question: Question) -> str:
        """Answers `ok` if the task's own model admits one configuration after the other."""
        try:
            return (
                "ok"
                if self.task.admits(*question["admits"])
                else "dropped the task's own model computes something else after it"
            )
        except Exception as error:  # the task's own code may raise any exception
            if self.is_short(error):
                raise
            return f"dropped the task's own model does not run after it: {one_line(error)}"

    def is_short(self, error: BaseException) -> bool:
        """True if the error means a lack of memory. Other programs use the GPU's memory, too. So contexts, libraries
        and kernels may fail to get memory, not only PyTorch's allocator."""
        from ..oom import is_short

        return is_short(error, self.torch.cuda.OutOfMemoryError)

    def graph(self) -> None:
        """Sends the last question's graph as primitives, in a new memory: numbers, then JSON."""
        from .ir import lowered

        if self.task.last is None:
            raise ValueError("a graph was asked for before any answer")
        text, parts = lowered(*self.task.last, self.task.padded())
        with os.fdopen(os.memfd_create("unseen-graph", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING), "wb") as file:
            for part in parts:
                file.write(part.numpy().tobytes())
            numbers = file.tell()
            file.write(text.encode())
            file.flush()
            fcntl.fcntl(
                file.fileno(), fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
            )
            socket.send_fds(self.channel, [f"graph {numbers} {len(text.encode())}".encode()], [file.fileno()])

    def attempt(self, question: Question) -> str | None:
        from .number import Unsupported

        torch = self.torch
        try:
            if "graph" in question:
                self.graph()
                return None
            if "make" in question:
                return self.make(question)
            return self.admits(question) if "admits" in question else self.answer(question)
        except Unsupported as why:
            return "dropped " + " ".join(str(why).split())[:600]
        except Exception as error:  # a task's own code may raise any exception
            if not self.is_short(error):  # a missing witness does not invalidate the answer
                return ("dropped " if "graph" in question else "failed ") + one_line(error)
            if self.task.device == "cpu":
                return "short " + one_line(error)
        self.task.device = "cpu"  # the host may have enough memory
        torch.cuda.empty_cache()
        again = self.attempt(question)
        self.task.device = "cuda"
        return again

    def give_back(self) -> None:
        """Releases memory before the answer is sent. A measurement may follow, or another process may need the
        memory. A small share of a GPU's memory is kept, since the next question would ask for it again."""
        if self.trim:
            self.trim()
        cuda = self.torch.cuda
        try:
            if cuda.is_initialized() and cuda.memory_reserved() * SHARE > cuda.mem_get_info()[1]:
                cuda.empty_cache()
        except RuntimeError:
            pass  # the next question reports the device's error

    def serve(self) -> None:
        while True:
            question, descriptor = receive(self.channel)
            if question is None:
                return
            if descriptor is not None:
                self.memory = mmap.mmap(descriptor, 0)
                os.close(descriptor)
            reply = self.attempt(question)
            self.give_back()
            if reply is not None:
                self.channel.send(reply.encode())


def offer() -> None:
    """Raises the OOM score, so that the OOM killer ends this process before the judge, and after a candidate."""
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as score:
            score.write("900")
    except OSError:
        pass  # the OOM killer then goes by size


def main() -> None:
    offer()
    channel = socket.socket(fileno=CHANNEL)
    hello, _ = receive(channel)
    try:
        server = Server(channel, hello)
    except Exception as error:
        channel.send(f"failed {one_line(error)}".encode())
        return
    channel.send(b"ready")
    server.serve()
