"""Stands in for unseen_torch/oracle/serve.py in the suite oracle_task, without torch: y = 2 x, i = where x is greatest.

The first word of the task's description file decides its behaviour.
"""

import array
import fcntl
import json
import mmap
import os
import signal
import socket
import struct
import sys
import time

channel = socket.socket(fileno=3)


def receive():
    data, ancillary, _, _ = channel.recvmsg(1 << 17, socket.CMSG_SPACE(4))
    descriptor = None
    for _, _, content in ancillary:
        numbers = array.array("i")
        numbers.frombytes(content[:4])
        descriptor = numbers[0]
    return (json.loads(data) if data else None), descriptor


def misbehave(how):
    if how == "exits":
        print("the last word")
        sys.stdout.flush()
        os._exit(7)
    elif how == "dies":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif how == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    elif how == "hangs":
        time.sleep(1000)
    elif how == "hoards":
        hoard = bytearray(1 << 30)
        hoard[::4096] = b"x" * len(hoard[::4096])
        time.sleep(1000)
    elif how == "babbles":
        return "whatever"
    elif how == "untold":
        return "dropped three samples say nothing"
    elif how == "cuts":
        os.ftruncate(handed, 0)
    return None


def answer(question, memory, count):
    x = question["inputs"][0]
    n = x["shape"][0]
    values = struct.unpack_from(f"{n}f", memory, x["at"])
    lines = ["ok"]
    for output in question["outputs"]:
        want = (
            [2.0 * v for v in values] if output["dtype"] == "float32" else [float(values.index(max(values)))]
        )
        if output["dtype"] == "int64":  # another place with the greatest value is as right
            got = struct.unpack_from("q", memory, output["got"])[0]
            if 0 <= got < n and values[got] == max(values):
                want = [float(got)]
        allowed = [2.0**-24 * abs(w) if output["dtype"] == "float32" else 0.0 for w in want]
        struct.pack_into(f"{len(want)}d", memory, output["want"], *want)
        struct.pack_into(f"{len(want)}d", memory, output["allowed"], *allowed)
        lines.append(f"enclosed bound varies {count}")
    return "\n".join(lines)


def graph(memory):
    """y as primitives: numbers, then JSON. Nothing for the index."""
    x = asked_last["inputs"][0]
    n = x["shape"][0]
    factor = 3.0 if how == "contradicts" else 2.0
    numbers = struct.pack(f"{n + 1}d{n}q", *struct.unpack_from(f"{n}f", memory, x["at"]), factor, *[0] * n)
    text = json.dumps(
        {
            "nodes": [
                {"op": "input", "n": n, "at": 0},
                {"op": "input", "n": 1, "at": 8 * n},
                {"op": "map", "n": n, "at": 8 * n + 8, "a": 1, "fill": 1},
                {"op": "mul", "n": n, "a": 0, "b": 2},
            ],
            "outputs": [3, -1],
        }
    ).encode()
    fd = os.memfd_create("graph", os.MFD_ALLOW_SEALING)
    os.write(fd, numbers + text)
    if how != "unsealed":
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
    socket.send_fds(channel, [f"graph {len(numbers)} {len(text)}".encode()], [fd])
    os.close(fd)


hello, _ = receive()
with open(hello["task"]) as file:
    how = file.read().split()[0]
if how == "fails":
    channel.send(b"failed ModuleNotFoundError: No module named 'torch'")
    sys.exit(0)
channel.send(b"ready")
count, shared, handed = 0, None, -1
while True:
    asked, descriptor = receive()
    if asked is None:
        break
    if "graph" in asked:
        if how == "graphless":
            channel.send(b"dropped nobody wrote it down")
        else:
            graph(shared)
        continue
    asked_last = asked
    count += 1
    if descriptor is not None:
        shared, handed = mmap.mmap(descriptor, 0), descriptor
    reply = misbehave(how) if how != "late" or count > 1 else None
    if how == "late" and count > 1:
        os._exit(9)
    channel.send((reply or answer(asked, shared, count)).encode())
    if how == "once":
        os._exit(9)
