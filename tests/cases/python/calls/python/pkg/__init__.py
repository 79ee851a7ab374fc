"""Public names of the package."""

from .base import Base, helper as renamed
from .use import *
from . import base
