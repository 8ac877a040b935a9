class Mute(Exception):
    def __str__(self):
        raise RuntimeError("no words")


def softmax(x):
    raise Mute
