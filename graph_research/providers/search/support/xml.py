"""Parses untrusted XML into an element tree: no entities, no external resources, bounded in size and depth."""

from __future__ import annotations

from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

MAX_BYTES = 20_000_000
MAX_ELEMENTS = 400_000
MAX_DEPTH = 100


class XmlRefused(ValueError):
    """XML that is not well formed, declares entities, or is larger than any answer of a search."""


def read_xml(source: bytes) -> Element:
    """The root element, with names without namespaces. Raises `XmlRefused`.

    A document type is not fetched. One that declares entities is refused: a few hundred bytes could expand to
    gigabytes, or read a local file.
    """
    if len(source) > MAX_BYTES:
        raise XmlRefused(f"XML of more than {MAX_BYTES:,} bytes")
    parser = _BoundedParser()
    try:
        return parser.read(source)
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise error if isinstance(error, XmlRefused) else XmlRefused(f"not valid XML: {error}") from error


def text_at(element: Element, path: str = ".") -> str:
    """All text in the first element that `path` leads to; empty where there is none."""
    match = element.find(path)
    return "" if match is None else "".join(match.itertext())


class _BoundedParser:
    def __init__(self) -> None:
        self._tree = TreeBuilder()
        self._count = self._depth = 0

    def read(self, source: bytes) -> Element:
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._tree.data
        parser.EntityDeclHandler = self._entity
        parser.Parse(source, True)
        return self._tree.close()

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._count += 1
        self._depth += 1
        if self._count > MAX_ELEMENTS or self._depth > MAX_DEPTH:
            raise XmlRefused(f"XML of more than {MAX_ELEMENTS:,} elements, or nested deeper than {MAX_DEPTH}")
        self._tree.start(_local(name), {_local(key): value for key, value in attributes.items()})

    def _end(self, name: str) -> None:
        self._depth -= 1
        self._tree.end(_local(name))

    def _entity(self, *declared: object) -> None:
        raise XmlRefused(f"XML that declares the entity {str(declared[0])[:40]!r}")


def _local(name: str) -> str:
    """The name without its namespace."""
    return name.rpartition(" ")[2]
