# gpu
"""One graph for each shape, over buffers of its own."""
import torch

graphs = {}


def capture(x):
    given, graph = x.clone(), torch.cuda.CUDAGraph()
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        torch.softmax(given, -1)
    torch.cuda.current_stream().wait_stream(side)
    with torch.cuda.graph(graph):
        answer = torch.softmax(given, -1)
    return given, graph, answer


def softmax(x):
    key = tuple(x.shape)
    if key not in graphs:
        graphs[key] = capture(x)
    given, graph, answer = graphs[key]
    given.copy_(x)
    graph.replay()
    return answer
