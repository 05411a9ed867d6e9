"""XML files a record at a time: entities, DTDs and anything outside the file are refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ehrkg.foundation.errors import InputError
from ehrkg.ontology.formats.archives import BROKEN, Entry, broken

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


def records(entry: Entry, tag: str) -> Iterator[tuple[dict[str, str], Element]]:
    """Each element of a tag directly below the root, with the root's attributes.

    What was handed out is forgotten: memory holds one record at a time.

    Raises:
        InputError: the XML is broken or ends too early (line), or it declares a document type or
            entities, which can blow a file up or reach outside it.
    """
    from xml.etree.ElementTree import ParseError

    import defusedxml
    from defusedxml.ElementTree import iterparse

    try:
        with entry.opened() as handle:
            root: Element | None = None
            attributes: dict[str, str] = {}
            depth = 0
            for event, element in iterparse(handle, ("start", "end"), forbid_dtd=True):
                if event == "start":
                    if root is None:
                        root, attributes = element, dict(element.attrib)
                    depth += 1
                    continue
                depth -= 1
                if depth == 1 and root is not None:
                    if element.tag == tag:
                        yield attributes, element
                    root.clear()
    except ParseError as error:
        raise InputError(
            "the XML is broken or ends too early",
            file=entry.where,
            line=error.position[0],
            found=str(error),
            todo="fetch or copy the file again",
        ) from error
    except defusedxml.DefusedXmlException as error:
        raise InputError(
            "the XML declares a document type or entities, which is refused",
            file=entry.where,
            found=str(error),
            expected="plain elements",
            todo="use the file as its owner ships it",
        ) from error
    except BROKEN as error:
        raise broken(entry, error) from error
