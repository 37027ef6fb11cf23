"""XML of a search's server as an element tree: no entities, nothing fetched, bounded in size and depth."""

from __future__ import annotations

from html.entities import entitydefs
from xml.etree.ElementTree import Element, ParseError, TreeBuilder

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

__all__ = ["XmlRefused", "read_xml", "text_at"]

MAX_BYTES = 20_000_000
MAX_ELEMENTS = 400_000
MAX_DEPTH = 100


class XmlRefused(ValueError):
    """XML that is not well formed, declares entities, or is larger than any answer of a search."""


def read_xml(source: bytes) -> Element:
    """The root element; names carry no namespace. `XmlRefused` says what is wrong.

    A document type is passed over without being fetched. One that declares entities is refused: a few hundred bytes
    of them could grow to gigabytes, or name a file of this machine.
    """
    if len(source) > MAX_BYTES:
        raise XmlRefused(f"XML of more than {MAX_BYTES:,} bytes")
    parser = DefusedXMLParser(target=_BoundedBuilder())
    parser.entity.update(entitydefs)
    try:
        parser.feed(source)
        root: Element = parser.close()
    except DefusedXmlException as error:
        raise XmlRefused("XML that declares an entity") from error
    except (ParseError, LookupError, ValueError) as error:
        raise error if isinstance(error, XmlRefused) else XmlRefused(f"not valid XML: {error}") from error
    return root


def text_at(element: Element, path: str = ".") -> str:
    """All text in the first element that `path` leads to; empty where there is none."""
    found = element.find(path)
    return "" if found is None else "".join(found.itertext())


class _BoundedBuilder(TreeBuilder):
    def __init__(self) -> None:
        super().__init__()
        self._count = self._depth = 0

    def start(self, tag: str, attrs: dict[str, str], /) -> Element:
        self._count += 1
        self._depth += 1
        if self._count > MAX_ELEMENTS or self._depth > MAX_DEPTH:
            raise XmlRefused(f"XML of more than {MAX_ELEMENTS:,} elements, or nested deeper than {MAX_DEPTH}")
        return super().start(_local(tag), {_local(name): value for name, value in attrs.items()})

    def end(self, tag: str, /) -> Element:
        self._depth -= 1
        return super().end(_local(tag))


def _local(name: str) -> str:
    """The name without its namespace."""
    return name.rpartition("}")[2]
