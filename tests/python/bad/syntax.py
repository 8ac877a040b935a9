def softmax(x:
