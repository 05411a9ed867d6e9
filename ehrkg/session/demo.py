"""The tables of the demo: written once, never over others."""

from __future__ import annotations

import shutil
from pathlib import Path

from ehrkg.ehr import synth
from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.progress import Progress
from ehrkg.foundation.storage import file_hash


def write_demo_tables(out: Path, *, patients: int, seed: int, progress: Progress) -> None:
    """Write the demo's tables, or find the same ones there.

    Args:
        out: their folder.
        patients: how many synthetic patients.
        seed: names the draw.
        progress: told of patients.

    Raises:
        UsageError: the folder holds other tables; they are left as they are.
        InputError: it can't be written.
    """
    part = out.with_name(f".{out.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    synth.write(part, patients=patients, shape="demo", seed=seed, progress=progress)
    if not out.exists():
        part.replace(out)
        return
    same = _hashes(part) == _hashes(out)
    shutil.rmtree(part)
    if not same:
        raise UsageError(
            f"{out} holds other tables", todo="choose another --out, or the same size and seed"
        )


def _hashes(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): file_hash(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
