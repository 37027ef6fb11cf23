"""The run's graph as SVG inside the report: let through element by element, for labels may come from strangers."""

from __future__ import annotations

import html
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass

_ELEMENTS = {
    *("svg", "g", "defs", "marker", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon"),
    *("text", "tspan", "title", "desc", "style"),
}
_ATTRIBUTES = {
    *("class", "id", "d", "x", "y", "x1", "y1", "x2", "y2", "dx", "dy", "cx", "cy", "r", "rx", "ry", "points"),
    *("width", "height", "viewBox", "preserveAspectRatio", "transform", "opacity", "role", "aria-label"),
    *("fill", "fill-opacity", "fill-rule", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray"),
    *("stroke-linecap", "stroke-linejoin", "paint-order", "text-anchor", "dominant-baseline", "font-family"),
    *("font-size", "font-weight", "font-style", "letter-spacing", "marker-start", "marker-mid", "marker-end"),
    *("markerWidth", "markerHeight", "markerUnits", "refX", "refY", "orient", "aria-labelledby"),
}
_OWN_REFERENCE = re.compile(r"url\(#[\w-]+\)")
_COORDINATES = re.compile(r"[ACHLMQSTVZ\d .,-]*")
"""What most attributes hold, and what needs neither a closer look nor escaping."""
_OUTSIDE = re.compile(r"url\s*\(|@import|expression|javascript:|[<\\]", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class SanitizedSvg:
    """Markup that holds no script, no link and nothing from elsewhere; `styles` are its style sheets' texts."""

    markup: str
    styles: tuple[str, ...]


def sanitized_svg(svg: str) -> SanitizedSvg | None:
    """The drawing rebuilt from what is allowed; None for an empty string and for what is not well-formed SVG.

    Style attributes are dropped, since the page's content security policy would refuse them.
    """
    if not svg.strip() or "<!" in svg.replace("<!--", ""):
        return None
    try:
        root = ElementTree.fromstring(svg)  # noqa: S314 -- declarations, hence entities, were refused above
    except ElementTree.ParseError:
        return None
    if _name(root) != "svg":
        return None
    styles: list[str] = []
    return SanitizedSvg(markup=_markup(root, styles), styles=tuple(styles))


def _markup(element: ElementTree.Element, styles: list[str]) -> str:
    name = _name(element)
    if name not in _ELEMENTS:
        return ""
    if name == "style":
        return _style(element.text or "", styles)
    inside = html.escape(element.text or "", quote=False)
    for child in element:
        inside += _markup(child, styles) + html.escape(child.tail or "", quote=False)
    return f"<{name}{_attributes(element)}>{inside}</{name}>"


def _style(sheet: str, styles: list[str]) -> str:
    if _OUTSIDE.search(sheet):
        return ""
    styles.append(sheet)
    return f"<style>{sheet}</style>"


def _attributes(element: ElementTree.Element) -> str:
    kept = ((name, _attribute(value)) for name, value in element.attrib.items() if name in _ATTRIBUTES)
    return "".join(f' {name}="{value}"' for name, value in kept if value is not None)


def _attribute(value: str) -> str | None:
    """The value as markup, None where it may lead outside."""
    if _COORDINATES.fullmatch(value):
        return value
    return None if _OUTSIDE.search(_OWN_REFERENCE.sub("", value)) else html.escape(value)


def _name(element: ElementTree.Element) -> str:
    return element.tag.rsplit("}", 1)[-1]
