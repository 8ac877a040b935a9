def softmax(x):
    return x.no_such_method()
