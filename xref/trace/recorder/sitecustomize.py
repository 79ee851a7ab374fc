"""Starts the recorder in a Python interpreter: Python imports a module of this name at startup, and the folder of this
file is put first in PYTHONPATH. Then everything is put back: the environment, sys.path, and the sitecustomize that the
interpreter would have imported otherwise.
"""

import os
import sys


def _restore(name: str, saved: str) -> None:
    """Give the environment variable `name` the value that it had; `saved` is the variable that kept it."""
    value = os.environ.pop(saved, None)
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value


def _start() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    folder = os.environ.pop("XREF_RECORDER_FOLDER", None)
    if folder is None:
        return
    _restore("PYTHONPATH", "XREF_RECORDER_PYTHONPATH")
    _restore("LD_PRELOAD", "XREF_RECORDER_LD_PRELOAD")
    try:
        from _xref_recorder.start import start  # type: ignore[import-not-found]

        start(folder)
    except Exception as error:  # noqa: BLE001
        # The script must run as if nobody watched; `xref trace` reports what it finds here.
        with open(os.path.join(folder, f"error-{os.getpid()}"), "w", encoding="utf-8") as stream:
            stream.write(f"{type(error).__name__}: {error}")
    finally:
        sys.path[:] = [entry for entry in sys.path if entry != here]
        sys.path_importer_cache.pop(here, None)


def _chain() -> None:
    """Run the sitecustomize that comes next on sys.path, as the module `sitecustomize`. Without one, tell `site` that
    there is none: it ignores exactly this ImportError, and no module of that name stays behind.
    """
    # These two are part of every interpreter; importlib.util would import modules that the script has not asked for.
    from _frozen_importlib import module_from_spec
    from _frozen_importlib_external import PathFinder

    spec = PathFinder.find_spec("sitecustomize")
    if spec is None or spec.loader is None:
        raise ImportError("No module named 'sitecustomize'", name="sitecustomize")
    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


_start()
_chain()
