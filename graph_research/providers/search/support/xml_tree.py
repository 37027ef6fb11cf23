"""XML from strangers becomes a small tree: no entities, no DTDs from elsewhere, bounded in size and depth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from xml.parsers import expat

__all__ = ["Element", "XmlRefused", "read_xml"]

MAX_BYTES = 20_000_000
MAX_ELEMENTS = 400_000
MAX_DEPTH = 100


class XmlRefused(ValueError):
    """XML that is not well formed, declares entities, or is larger than anything that is waited for."""


@dataclass(frozen=True, kw_only=True)
class Element:
    """An element with its attributes and, in their order, its texts and elements. Names carry no namespace."""

    name: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    content: list[str | Element] = field(default_factory=list)

    def children(self, name: str) -> Iterator[Element]:
        """The elements of that name right below this one."""
        return (one for one in self.content if isinstance(one, Element) and one.name == name)

    def child(self, *path: str) -> Element | None:
        """The first element that is reached over the names of `path`."""
        found: Element | None = self
        for name in path:
            found = next(found.children(name), None) if found is not None else None
        return found

    def all(self, name: str) -> Iterator[Element]:
        """The elements of that name anywhere below, in the order of the document."""
        for one in self.content:
            if isinstance(one, Element):
                if one.name == name:
                    yield one
                yield from one.all(name)

    def text(self, *path: str) -> str:
        """All text in the element, or in the one that `path` leads to; empty where there is none."""
        found = self.child(*path)
        return "".join(found._texts()) if found is not None else ""

    def _texts(self) -> Iterator[str]:
        for one in self.content:
            if isinstance(one, str):
                yield one
            else:
                yield from one._texts()


def read_xml(source: bytes) -> Element:
    """The root element. `XmlRefused` says what is wrong.

    A document type is passed over without being fetched. One that declares entities is refused: a few hundred bytes
    of them could grow to gigabytes, or name a file of this machine.
    """
    if len(source) > MAX_BYTES:
        raise XmlRefused(f"XML of more than {MAX_BYTES:,} bytes")
    reader = _Reader()
    try:
        reader.parser.Parse(source, True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise error if isinstance(error, XmlRefused) else XmlRefused(f"no XML: {error}") from error
    return reader.root()


class _Reader:
    def __init__(self) -> None:
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.EntityDeclHandler = self._entity
        self._open: list[Element] = [Element(name="")]
        self._count = 0

    def root(self) -> Element:
        return next(one for one in self._open[0].content if isinstance(one, Element))

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if self._count > MAX_ELEMENTS or len(self._open) > MAX_DEPTH:
            raise XmlRefused(f"XML of more than {MAX_ELEMENTS:,} elements, or nested deeper than {MAX_DEPTH}")
        own = {key.rpartition(" ")[2]: value for key, value in attributes.items()}
        element = Element(name=name.rpartition(" ")[2], attributes=own)
        self._open[-1].content.append(element)
        self._open.append(element)

    def _end(self, name: str) -> None:  # noqa: ARG002 -- the parser has checked that it is the open one's
        self._open.pop()

    def _text(self, text: str) -> None:
        self._open[-1].content.append(text)

    def _entity(self, *declared: object) -> None:
        raise XmlRefused(f"XML that declares the entity {str(declared[0])[:40]!r}")
