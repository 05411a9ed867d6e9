"""The API reference, made of the docstrings of every public name; a warning is an error.

    python tests/reference.py FOLDER

A package's page holds what its ``__all__`` names, in that order.
"""

from __future__ import annotations

import importlib
import inspect
import io
import pkgutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import ehrkg

SETTINGS: dict[str, Any] = {
    "project": "ehrkg",
    "version": ehrkg.__version__,
    "extensions": ["sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"],
    "html_theme": "alabaster",
    "html_theme_options": {"nosidebar": False, "page_width": "70em"},
    "html_show_sourcelink": False,
    "autodoc_member_order": "bysource",
    "autodoc_typehints": "signature",
    "napoleon_use_ivar": True,
    "python_maximum_signature_line_length": 100,
    "suppress_warnings": ["ref.python"],  # a word of a type that is the name of several things
}


def packages() -> list[str]:
    """The public packages: those that name what is public in them."""
    found = [
        one.name
        for one in pkgutil.walk_packages(ehrkg.__path__, "ehrkg.")
        if one.ispkg and hasattr(importlib.import_module(one.name), "__all__")
    ]
    return ["ehrkg", *sorted(found)]


def public_names(package: str) -> dict[str, Any]:
    """What a package's ``__all__`` names, without the packages among it."""
    module = importlib.import_module(package)
    found = {name: getattr(module, name) for name in module.__all__}
    return {name: value for name, value in found.items() if not isinstance(value, ModuleType)}


def pages() -> dict[str, str]:
    """Each package's page, in reStructuredText; a name of several packages is told of once."""
    told: dict[int, str] = {}
    made = {}
    for package in packages():
        lines = [package, "=" * len(package), "", f".. automodule:: {package}", "   :no-members:"]
        for name, value in public_names(package).items():
            full = f"{package}.{name}"
            lines += ["", *_about(full, value, told.setdefault(id(value), full))]
        made[package] = "\n".join(lines)
    return made


def _about(full: str, value: Any, told: str) -> list[str]:
    """The lines about one name."""
    if told != full:
        return [f"``{full}`` is :py:obj:`{told}`."]
    if not callable(value):
        package, _, name = full.rpartition(".")
        words = ["", *data_words(full, value)]
        return [f".. py:data:: {name}", *(f"   {one}" for one in (f":module: {package}", *words))]
    if not inspect.isclass(value):
        return [f".. autofunction:: {full}"]
    sort = "exception" if issubclass(value, Exception) else "class"
    inherited = ["   :inherited-members:"] if _own(value) else []
    return [f".. auto{sort}:: {full}", "   :members:", *inherited]


def data_words(full: str, value: Any) -> list[str]:
    """The docstring under a value that is neither function nor class, from where it is defined.

    Raises:
        LookupError: it has none.
    """
    from sphinx.errors import PycodeError
    from sphinx.pycode import ModuleAnalyzer

    name = full.rpartition(".")[2]
    for module in sorted(one for one in sys.modules if one.startswith("ehrkg")):
        if vars(sys.modules[module]).get(name) is not value:
            continue
        try:
            words = ModuleAnalyzer.for_module(module).find_attr_docs()
        except PycodeError:
            continue
        if ("", name) in words:
            return words["", name]
    raise LookupError(f"{full} has no docstring: write one under it, where it is defined")


def _own(value: type) -> bool:
    """Whether all that a class inherits from is in this program."""
    return all(base.__module__.startswith("ehrkg") for base in value.__mro__[:-1])


def write(folder: Path) -> str:
    """Make the reference in a folder.

    Returns:
        What Sphinx complains about; nothing, where all is well.
    """
    from sphinx.application import Sphinx
    from sphinx.util.docutils import docutils_namespace

    complaints = io.StringIO()
    with TemporaryDirectory() as made:
        source = Path(made)
        contents = ["ehrkg", "=====", "", ".. toctree::", "", *(f"   {one}" for one in packages())]
        (source / "index.rst").write_text("\n".join(contents), encoding="utf-8")
        for package, text in pages().items():
            (source / f"{package}.rst").write_text(text, encoding="utf-8")
        with docutils_namespace():
            Sphinx(
                source,
                None,
                folder,
                source / ".doctrees",
                "html",
                confoverrides=SETTINGS,
                status=None,
                warning=complaints,
            ).build()
    return complaints.getvalue()


if __name__ == "__main__":
    complaints = write(Path(sys.argv[1]))
    sys.stderr.write(complaints)
    sys.exit(bool(complaints))
