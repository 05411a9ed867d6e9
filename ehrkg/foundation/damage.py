"""What a damaged file raises while it is read, and what a reader of the error is told.

Tables, ontologies and archives all go by this one list, whatever library reads them.
"""

from __future__ import annotations

import gzip
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ehrkg.foundation.errors import InputError


@dataclass(frozen=True)
class Damage:
    """One kind of fault.

    Attributes:
        raised: what the libraries raise for it.
        what: what is wrong, in one line.
        todo: what the reader can do about it.
        expected: what should have stood there.
    """

    raised: tuple[type[Exception], ...]
    what: str
    todo: str
    expected: str = ""


_AGAIN = "fetch or copy the file again and compare its checksum"
_TOO_SHORT = Damage(
    (EOFError, zlib.error, lzma.LZMAError, tarfile.TarError),
    "the file is damaged or ends too early",
    _AGAIN,
)
DAMAGES: tuple[Damage, ...] = (
    _TOO_SHORT,
    Damage(
        (gzip.BadGzipFile,),
        "this is no gzip file, or its checksum is wrong",
        "rename it, or fetch it again",
        "gzip, as the name says",
    ),
    Damage(
        (zipfile.BadZipFile,),
        "the zip archive is damaged or ends too early",
        _AGAIN,
    ),
    Damage(
        (OSError,),
        "the file can't be read",
        "check that it is there, that you may read it, and that the disk has room",
    ),
)
"""The first that fits counts."""

BROKEN = tuple(kind for damage in DAMAGES for kind in damage.raised)
"""All that reading a damaged file raises."""


def broken(where: str | Path, error: Exception) -> InputError:
    """The error for a file that is damaged, ends too early or can't be read.

    Args:
        where: the file, or archive and member.
        error: what was raised; of another kind than ``BROKEN``, the file counts as too short.

    >>> print(broken("a.csv.gz", EOFError("no end marker")))
    a.csv.gz: the file is damaged or ends too early
      found: no end marker
      do: fetch or copy the file again and compare its checksum
    """
    damage = next((each for each in DAMAGES if isinstance(error, each.raised)), _TOO_SHORT)
    found = str(error) or type(error).__name__
    if isinstance(error, OSError) and damage is DAMAGES[-1]:
        if error.errno is None:  # a library's own: the system had nothing against it
            damage = _TOO_SHORT
        found = error.strerror or found
    return InputError(
        damage.what, file=where, found=found, expected=damage.expected, todo=damage.todo
    )


@contextmanager
def parsing_xml(where: str | Path) -> Iterator[None]:
    """Turn what broken or hostile XML raises, and a damaged file, into an error with a way out.

    Args:
        where: the file, or archive and member.

    Raises:
        InputError: the XML is broken or ends too early (line); it declares a document type or
            entities, which can blow a file up or reach outside it; or the file is damaged.
    """
    from xml.etree.ElementTree import ParseError
    from xml.sax import SAXParseException

    import defusedxml

    try:
        yield
    except ParseError as error:
        raise _broken_xml(where, error.position[0], str(error)) from error
    except SAXParseException as error:
        raise _broken_xml(where, error.getLineNumber(), error.getMessage()) from error
    except defusedxml.DefusedXmlException as error:
        raise InputError(
            "the XML declares a document type or entities, which is refused",
            file=where,
            found=str(error),
            expected="plain elements",
            todo="use the file as its owner ships it",
        ) from error
    except BROKEN as error:
        raise broken(where, error) from error


def _broken_xml(where: str | Path, line: int | None, found: str) -> InputError:
    return InputError(
        "the XML is broken or ends too early",
        file=where,
        line=line,
        found=found,
        todo="fetch or copy the file again, or mend the line",
    )
