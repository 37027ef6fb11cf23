"""Charts and diagrams of Word and PowerPoint files: the values that a chart shows as a table, a diagram's texts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from lxml import etree
from openpyxl.styles.numbers import is_date_format
from openpyxl.utils.datetime import MAC_EPOCH, WINDOWS_EPOCH, from_excel

from graph_research.text.canonical import DocumentBuilder
from graph_research.text.errors import DocumentUnreadable
from graph_research.text.readers.foreign.package import Package, local_name, text_of
from graph_research.text.readers.foreign.sheet_rows import shown

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_D = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
DRAWINGS = (f"{_C}chart", f"{_D}relIds")
"""The elements that stand for a chart and for a diagram."""

_NAMES, _VALUES = ("cat", "xVal"), ("val", "yVal")
_WORDS = ("strCache", "strLit", "lvl")
"""What holds points that are words, such as the version `2.10`; others are numbers."""
_MAX_DEPTH = 20  # of a diagram


def add_drawing(
    builder: DocumentBuilder, package: Package, drawing: etree._Element, related: Mapping[str, str]
) -> list[str]:
    """Add what one of the `DRAWINGS` shows, by the members that the one it stands in refers to; the warnings."""
    is_chart = drawing.tag == DRAWINGS[0]
    name = related.get(drawing.get(f"{_R}id" if is_chart else f"{_R}dm", ""), "")
    try:
        root = package.xml(name)
    except DocumentUnreadable as error:
        return [f"{name} is not read: {error.message}"]
    if root is not None and is_chart:
        _add_chart(builder, root)
    elif root is not None:
        for text in _diagram(root):
            builder.add("item", text)
    return []


def _add_chart(builder: DocumentBuilder, root: etree._Element) -> None:
    builder.add("paragraph", ", ".join(" ".join(_paragraphs(title)) for title in root.iter(f"{_C}title")))
    series = list(root.iter(f"{_C}ser"))
    calendar = root.find(f"{_C}date1904")
    epoch = WINDOWS_EPOCH if calendar is None or calendar.get("val") in ("0", "false") else MAC_EPOCH
    for names, alike in _by_names(series, epoch):
        values = [_points(one, _VALUES, epoch) for one in alike]
        builder.begin_table()
        builder.add_row(["", *(text_of(one.find(f"{_C}tx//{_C}v")).strip() for one in alike)])
        for at in sorted({at for one in values for at in one}):
            builder.add_row([names.get(at, str(at + 1)), *(one.get(at, "") for one in values)])


def _by_names(series: Iterable[etree._Element], epoch: datetime) -> list[tuple[dict[int, str], list[etree._Element]]]:
    """The names of points, each with the series that follow each other and have no other ones: in a chart of points
    (scatter) each series may have its own."""
    groups: list[tuple[dict[int, str], list[etree._Element]]] = []
    for one in series:
        names = _points(one, _NAMES, epoch)
        known, alike = groups[-1] if groups else ({}, [])
        if not groups or any(known.get(at, name) != name for at, name in names.items()):
            groups.append((names, [one]))
        else:
            known |= names
            alike.append(one)
    return groups


def _points(series: etree._Element, kinds: tuple[str, ...], epoch: datetime) -> dict[int, str]:
    """By their number from 0, the points that are stored with a series, as a sheet shows them; names of inner levels
    behind those of the outer ones."""
    found: dict[int, str] = {}
    for parent in series:
        if local_name(parent) in kinds:
            common = text_of(parent.find(f".//{_C}formatCode"))
            for level in list(parent.iter(f"{_C}lvl")) or [parent]:
                said = {
                    int(at): _value(point, point.get("formatCode", common), epoch)
                    for point in level.iter(f"{_C}pt")
                    if (at := point.get("idx", "")).isdecimal()
                }
                found = {at: f"{_last(said, at)} {name}".strip() for at, name in found.items()} or said
    return found


def _last(said: Mapping[int, str], at: int) -> str:
    """What is said last up to `at`."""
    return said[max(before)] if (before := [other for other in said if other <= at]) else ""


def _value(point: etree._Element, number_format: str, epoch: datetime) -> str:
    text, parent = text_of(point.find(f"{_C}v")), point.getparent()
    if parent is not None and local_name(parent) in _WORDS:
        return text
    try:
        number = float(text)
        value = from_excel(number, epoch) if is_date_format(number_format) else number
    except (ValueError, OverflowError, TypeError):
        return text
    return shown(value, is_share="%" in number_format)


def _diagram(root: etree._Element) -> Iterator[str]:
    """The texts of a diagram, each before those below it."""
    points = {point.get("modelId", ""): point for point in root.iter(f"{_D}pt")}
    below: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
    for link in root.iter(f"{_D}cxn"):
        if link.get("type", "parOf") == "parOf":
            order = link.get("srcOrd", "")
            below[link.get("srcId", "")].append((int(order) if order.isdecimal() else 0, link.get("destId", "")))
    pending = [(name, 0) for name, point in points.items() if point.get("type") == "doc"]
    while pending:
        name, depth = pending.pop()
        point = points.pop(name, None)  # a point that is below several is read once
        if point is not None and depth < _MAX_DEPTH:
            yield " ".join(_paragraphs(point.find(f"{_D}t")))
            pending += [(other, depth + 1) for _, other in sorted(below[name], reverse=True)]


def _paragraphs(parent: etree._Element | None) -> Iterator[str]:
    for paragraph in parent.iter(f"{_A}p") if parent is not None else ():
        yield "".join(text_of(text) for text in paragraph.iter(f"{_A}t"))
