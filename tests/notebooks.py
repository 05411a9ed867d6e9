"""Runs the notebooks of examples/, and writes their outputs into them anew:

    python tests/notebooks.py [NAME ...]

A committed notebook shows what it gives, so that it can be read where it is not run. Only what is
the same each time is kept: no times, no addresses, no complaints of libraries.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode
from traitlets.config import Config

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
WIDGET = "application/vnd.jupyter.widget-view+json"
VARIES = "varies"
"""The tag of a cell whose outputs differ from run to run, and are shown all the same."""


def run(path: Path, demo: Path, folder: Path) -> NotebookNode:
    """A notebook with the outputs of this run.

    Args:
        path: the notebook.
        demo: the folder with ``tables`` and a ``benchmark`` that it may look at.
        folder: where it runs.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell fails.
    """
    notebook = nbformat.read(path, as_version=4)
    search = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    places = {"EHRKG_DEMO": str(demo), "PYTHONPATH": search, "TMPDIR": str(folder)}
    with tempfile.TemporaryDirectory(prefix="k") as sockets:
        talk = Config({"KernelManager": {"transport": "ipc", "ip": f"{sockets}/k"}})  # no port
        client = NotebookClient(
            notebook,
            config=talk,
            coalesce_streams=True,
            kernel_name="python3",
            resources={"metadata": {"path": str(folder)}},
            startup_timeout=600,
            timeout=600,
        )
        client.execute(env=os.environ | places)
    return clean(notebook)


def clean(notebook: NotebookNode) -> NotebookNode:
    """The notebook without what tells of this run and this machine."""
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = [one for one in cell.outputs if not _passing(one)]
    return notebook


def _passing(output: NotebookNode) -> bool:
    """Whether an output is a complaint, or a bar that shows progress."""
    return output.get("name") == "stderr" or WIDGET in output.get("data", {})


def shown(cell: NotebookNode) -> list[str]:
    """What a cell shows, as text; of a picture, its drawing."""
    found = []
    for output in cell.get("outputs", []):
        if output.output_type == "stream":
            found.append(str(output.text))
        elif "data" in output:
            best = next(kind for kind in ("image/svg+xml", "text/plain") if kind in output.data)
            found.append(str(output.data[best]))
    return [" ".join(one.split()) for one in found]


def main(names: list[str]) -> None:
    from ehrkg.ehr import synth
    from ehrkg.pipeline import build

    chosen = [EXAMPLES / name for name in names] or sorted(EXAMPLES.glob("*.ipynb"))
    with tempfile.TemporaryDirectory() as made:
        demo = Path(os.environ.get("EHRKG_DEMO", Path(made) / "demo"))
        if not (demo / "benchmark" / "report.html").exists():
            synth.write(demo / "tables", patients=150, shape="demo", seed=7)
            build(demo / "tables", demo / "benchmark")
        for path in chosen:
            nbformat.write(run(path, demo, Path(made)), path)
            sys.stdout.write(f"{path.name}: {path.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main(sys.argv[1:])
