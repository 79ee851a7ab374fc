from .transform import FuseTIR
