import tvm.script

tvm.script.register_dialect("tirx", "tvm.tirx.script")
