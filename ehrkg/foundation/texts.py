"""Text files as UTF-8, with a way out where they are not."""

from __future__ import annotations

from pathlib import Path

from ehrkg.foundation.errors import InputError


def utf8_text(path: Path, *, what: str) -> str:
    """The whole of a text file, without a byte order mark.

    Args:
        path: the file.
        what: what it is to its user ("query"), for the message.

    Raises:
        InputError: bytes that are not UTF-8; it says in which line.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "pairs.tsv"
    >>> _ = file.write_text("Carrión's disease", encoding="utf-8-sig")
    >>> utf8_text(file, what="file")
    "Carrión's disease"
    """
    data = path.read_bytes()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            "these bytes are not UTF-8",
            file=path,
            line=data[: error.start].count(b"\n") + 1,
            found=repr(data[error.start : error.start + 8]),
            todo=f"save the {what} as UTF-8",
        ) from error
