from . import cpp


def relu(x):
    cpp.add(x, x)
    return cpp.nn.relu(x)
