from .builder import *
