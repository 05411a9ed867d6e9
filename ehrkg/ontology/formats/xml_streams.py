"""XML files a record at a time: entities, DTDs and anything outside the file are refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ehrkg.foundation.damage import parsing_xml
from ehrkg.ontology.formats.archives import Entry

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


def records(entry: Entry, tag: str) -> Iterator[tuple[dict[str, str], Element]]:
    """Each element of a tag directly below the root, with the root's attributes.

    What was handed out is forgotten: memory holds one record at a time.

    Raises:
        InputError: the XML is broken or ends too early (line), or it declares a document type or
            entities, which can blow a file up or reach outside it.
    """
    from defusedxml.ElementTree import iterparse

    with parsing_xml(entry.where), entry.opened() as handle:
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
