def register_object(type_key=None):
    def register(cls):
        return cls

    return register(type_key) if isinstance(type_key, type) else register


def register_func(func_name, f=None, override=False):
    def register(myf):
        return myf

    return register(f) if f else register


def get_global_func(name, allow_missing=False):
    return None


def _init_api(namespace, target_module_name=None):
    pass
