"""The oracle's process. Started by verify/oracle with a socket as descriptor 3; it never sees the candidate.

The first packet names the task, each further one a configuration and where its tensors lie in a memory that both share
(its descriptor comes with the packet when it is new). The answer's first line is `ok`, or `dropped`, `short` or `failed`
and why; after `ok` one line an output.
"""
import array
import ctypes
import fcntl
import json
import mmap
import os
import socket
import sys
import warnings

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import _unseen  # noqa: E402,F401  (all of ours; see there)

del sys.path[0]
CHANNEL = 3
PACKET = 1 << 17


def receive(channel):
    """A packet as JSON, and the descriptor that came with it or None."""
    data, ancillary, _, _ = channel.recvmsg(PACKET, socket.CMSG_SPACE(4))
    descriptor = None
    for level, kind, content in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            numbers = array.array("i")
            numbers.frombytes(content[:4])
            descriptor = numbers[0]
    return (json.loads(data) if data else None), descriptor


def one_line(error):
    return " ".join(f"{type(error).__name__}: {error}".split())[:600]


def keep_memory():
    """What is freed stays with the process, for what is given anew is cleared page by page: half of the time of tensors of many MiB.
    What gives it back, or None where malloc is not glibc's."""
    libc, trim_threshold, mmap_max = ctypes.CDLL(None), -1, -4  # as in its malloc.h
    if not hasattr(libc, "mallopt") or not hasattr(libc, "malloc_trim"):
        return None
    libc.mallopt(mmap_max, 0)
    libc.mallopt(trim_threshold, (1 << 31) - 1)
    return lambda: libc.malloc_trim(0)


class Server:
    def __init__(self, channel, hello):
        warnings.simplefilter("ignore")  # the last words should be about what went wrong
        self.trim = keep_memory() if hello.get("plenty") else None
        import torch
        from _unseen.oracle import opened
        torch.set_num_threads(max(1, int(hello["threads"])))
        torch.backends.cudnn.deterministic = True
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        self.channel, self.torch, self.opened, self.memory = channel, torch, opened, None
        device = "cuda" if hello["device"] == "cuda" and torch.cuda.is_available() else "cpu"
        self.task = opened.Task(hello["task"], device)

    def view(self, tensor, at):
        """A tensor over the shared memory."""
        torch, shape = self.torch, tensor["shape"]
        dtype = getattr(torch, tensor["dtype"])
        count = 1
        for extent in shape:
            count *= extent
        if count == 0:
            return torch.zeros(shape, dtype=dtype)
        return torch.frombuffer(self.memory, dtype=dtype, count=count, offset=at).reshape(shape)

    def answer(self, question):
        from _unseen.oracle.evaluate import judge_index
        given = {t["name"]: self.view(t, t["at"]).clone() for t in question["inputs"]}
        judged, constant = self.opened.answers(self.task, question["sizes"], given, question.get("seed", 1))
        outputs = question["outputs"]
        if len(judged) != len(outputs):
            return f"failed the task has {len(judged)} outputs; {len(outputs)} were expected"
        lines = ["ok"]
        for j, output in zip(judged, outputs):
            if list(j.want.shape) != list(output["shape"]):
                return f"failed output {output['name']} has shape {list(j.want.shape)}; {output['shape']} was expected"
            if j.dropped:
                return f"dropped {j.dropped}"
            want = j.want
            if not j.number.is_float and "got" in output:
                want = judge_index(j, self.view(output, output["got"]).to(j.want.device))
            for name, values in (("want", want), ("allowed", j.allowed)):
                place = {"shape": output["shape"], "dtype": "float64"}
                self.view(place, output[name]).copy_(values)
            lines.append(f"{'enclosed' if j.enclosed else 'fp64'} {'ensemble' if j.ensemble else 'bound'} "
                         f"{'constant' if constant else 'varies'} {j.relative:.3g}{' open' if j.untold else ''}")
        return "\n".join(lines)

    def make(self, question):
        """Inputs as the task's own get_inputs makes them: float32 or int32 into the shared memory."""
        torch = self.torch
        try:
            made = self.task.made(question["sizes"], question["make"], question.get("class"))
        except Exception as error:  # whatever the task's own code raises
            if self.is_short(error):
                raise
            return f"dropped the task's get_inputs does not run here: {one_line(error)}"
        for t in question["inputs"]:
            value = made[t["name"]]
            if list(value.shape) != list(t["shape"]):
                return (f"dropped the task's get_inputs makes {t['name']} of shape {list(value.shape)} here, of which importing found no "
                        f"law; {t['shape']} was expected")
            kind = "float32" if value.dtype.is_floating_point else "int32"
            if kind == "int32" and value.numel() and not -1 << 31 <= int(value.min()) <= int(value.max()) < 1 << 31:
                return f"dropped the task's get_inputs makes numbers of more than 32 bits here: {t['name']}"
            self.view({"shape": t["shape"], "dtype": kind}, t["at"]).copy_(value.to(getattr(torch, kind)))
        return "made"

    def admits(self, question):
        """`ok` where the task's own model admits one configuration after the other."""
        try:
            return "ok" if self.task.admits(*question["admits"]) else "dropped the task's own model computes something else after it"
        except Exception as error:  # whatever the task's own code raises
            if self.is_short(error):
                raise
            return f"dropped the task's own model does not run after it: {one_line(error)}"

    def is_short(self, error):
        """Others' programs hold a GPU's memory, too: not its allocator alone, its context, libraries and kernels want some."""
        from _unseen.shortage import is_short
        return is_short(error, self.torch.cuda.OutOfMemoryError)

    def graph(self):
        """The last question's graph as primitives, in a memory of its own: numbers, then JSON."""
        from _unseen.oracle.lowered import lowered
        text, parts = lowered(*self.task.last)
        with os.fdopen(os.memfd_create("unseen-graph", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING), "wb") as file:
            for part in parts:
                file.write(part.numpy().tobytes())
            numbers = file.tell()
            file.write(text.encode())
            file.flush()
            fcntl.fcntl(file.fileno(), fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
            socket.send_fds(self.channel, [f"graph {numbers} {len(text.encode())}".encode()], [file.fileno()])

    def attempt(self, question):
        from _unseen.oracle.number import Unsupported
        torch = self.torch
        try:
            kind = next((k for k in ("graph", "make", "admits") if k in question), None)
            return {"graph": lambda _: self.graph(), "make": self.make, "admits": self.admits}.get(kind, self.answer)(question)
        except Unsupported as why:
            return "dropped " + " ".join(str(why).split())[:600]
        except Exception as error:  # whatever a task's own code raises
            if not self.is_short(error):  # a witness that is not had takes nothing from the answer
                return ("dropped " if "graph" in question else "failed ") + one_line(error)
            if self.task.device == "cpu":
                return "short " + one_line(error)
        self.task.device = "cpu"  # the host may have room
        torch.cuda.empty_cache()
        again = self.attempt(question)
        self.task.device = "cuda"
        return again

    def give_back(self):
        """Before the answer is sent: what comes after it may be timed, or want the memory."""
        if self.trim:
            self.trim()
        try:
            if self.torch.cuda.is_initialized():
                self.torch.cuda.empty_cache()
        except RuntimeError:
            pass  # the next question says what is wrong with the device

    def serve(self):
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


def offer():
    """Where main memory is out, the system ends this process before the judge, and after a candidate."""
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as score:
            score.write("900")
    except OSError:
        pass  # it goes by size then


def main():
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


if __name__ == "__main__":
    main()
