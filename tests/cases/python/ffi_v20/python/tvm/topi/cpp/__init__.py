from .impl import *
from . import nn
