def softmax(x):
    raise NotImplementedError("only powers of two")
