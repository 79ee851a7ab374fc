from . import transform
