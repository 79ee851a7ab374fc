from . import expr, op
