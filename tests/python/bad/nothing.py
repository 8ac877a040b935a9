def softmax(x):
    x.sum()
