"""XML from strangers: broken, or made to read or fill what it should not, is refused first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ehrkg.foundation.damage import parsing_xml
from ehrkg.foundation.errors import InputError
from ehrkg.ontology.formats.tsv import opened

LONGEST_ENTITY = 1_024
"""Characters of an entity that stands for a namespace, as ontology editors write them; longer ones,
and those made of other entities, are how a small file grows until memory is full."""
_PIECE = 1 << 20


def check_xml(path: Path) -> None:
    """Read a file through once as XML, and believe nothing of it.

    Entities that name one of the file's own namespaces are let through; external ones, nested ones
    and long ones are not, and nothing that they point to is ever opened.

    Args:
        path: the file, plain or gzip.

    Raises:
        InputError: with its line: the XML is broken or ends too early, or it declares an entity or
            a document type that lies elsewhere, or an entity made to grow.
    """
    guard = _guard(path)
    with parsing_xml(path), opened(path) as handle:
        while piece := handle.read(_PIECE):
            guard.feed(piece)
        guard.close()


def _guard(path: Path) -> Any:
    """A parser that looks at declarations only, so that a large file is through in seconds."""
    from defusedxml.expatreader import DefusedExpatParser

    class Guard(DefusedExpatParser):
        _parser: Any

        def reset(self) -> None:
            super().reset()
            for handler in ("StartElementHandler", "EndElementHandler", "CharacterDataHandler"):
                setattr(self._parser, handler, None)

        def defused_start_doctype_decl(
            self, name: str, sysid: str | None, pubid: str | None, *_: Any
        ) -> None:
            if sysid or pubid:
                self._refuse(f"the document type {name} at {sysid or pubid}")

        def defused_entity_decl(
            self,
            name: str,
            is_parameter_entity: bool,
            value: str | None,
            base: str | None,
            sysid: str | None,
            *_: Any,
        ) -> None:
            del base
            if value is None:
                self._refuse(f"the external entity {name} at {sysid}")
            elif is_parameter_entity or "&" in value or len(value) > LONGEST_ENTITY:
                self._refuse(f"the entity {name}, made to grow: {value[:40]}")

        def defused_external_entity_ref_handler(self, *_: Any) -> None:
            self._refuse("a reference to an external entity")

        def _refuse(self, what: str) -> None:
            raise InputError(
                "this XML is refused",
                file=path,
                line=self._parser.CurrentLineNumber,
                found=what,
                expected="entities that name the file's own namespaces, or none",
                todo="take the declaration out if you trust the file",
            )

    return Guard(forbid_dtd=True, forbid_entities=True, forbid_external=True)
