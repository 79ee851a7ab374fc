def module_pass(pass_func=None, opt_level=None, name=None, required=None, traceable=False):
    return lambda arg: arg
