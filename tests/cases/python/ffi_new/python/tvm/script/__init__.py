def register_dialect(name, module_path):
    pass
