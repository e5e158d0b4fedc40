"""What igloo adds to Python: display(), and what matplotlib and PIL show comes back with the result. Python
imports this by itself from PYTHONPATH; the rest is loaded when it is used."""
import builtins
import sys

HERE = __file__.rpartition("/")[0]


def loaded():
    """The module that does the work. By its place: it stands in nobody's sys.path."""
    module = sys.modules.get("_igloo_display")
    if module is None:
        import importlib.util
        spec = importlib.util.spec_from_file_location("_igloo_display", HERE + "/display.py")
        module = sys.modules["_igloo_display"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module


def display(*values):
    """Shows values in their richest form: figures, pictures, tables, anything with _repr_html_ and the like."""
    loaded().program.display(*values)


class Finder:
    """Finds nothing itself: it sees two modules come whose way of showing would look for a screen."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in ("matplotlib.pyplot", "PIL.ImageShow"):
            sys.meta_path.remove(Finder)
            try:
                return loaded().program.find_spec(name)
            finally:
                sys.meta_path.insert(0, Finder)


def give_way():
    """Nothing of ours is in the way of a module of the same name: the environment may have one, too."""
    if HERE in sys.path:
        sys.path.remove(HERE)
    sys.path_importer_cache.pop(HERE, None)
    own = sys.modules.pop("sitecustomize")
    try:
        import sitecustomize  # noqa: F401
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
    finally:
        sys.modules.setdefault("sitecustomize", own)


builtins.display = display
sys.meta_path.insert(0, Finder)
give_way()
