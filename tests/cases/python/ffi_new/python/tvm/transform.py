from tvm.ir.transform import module_pass
