"""A graph as a PNG: our own SVG, drawn by resvg, which the extra `[viz]` installs."""

from __future__ import annotations

from graph_research.errors import Action, Hint, UserMistake
from graph_research.graph.export.layout import lay_out
from graph_research.graph.export.picture import Picture
from graph_research.graph.export.svg import Theme, render_svg

__all__ = ["CannotDraw", "render_png"]

_SCALE = 2.0
_MOST_PIXELS = 60_000_000
_SVG = Hint(Action.SET_OPTION, options={"format": "svg"})
_PROBE = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20">{}</svg>'


class CannotDraw(UserMistake):
    """What draws pixels is not installed, or has nothing to write letters with."""

    code = "cannot-draw"


def render_png(picture: Picture, theme: Theme = "light") -> bytes:
    """The picture at twice its size in pixels, a very large one at less. `auto` is light. Raises `CannotDraw`."""
    try:
        from resvg_py import svg_to_bytes
    except ImportError:
        raise CannotDraw(
            "a PNG needs the extra `viz`",
            help="pip install 'graph-research[viz]', or choose another format",
            hint=_SVG,
        ) from None
    letters, nothing = _PROBE.format('<text x="5" y="15">M</text>'), _PROBE.format("")
    if svg_to_bytes(svg_string=letters) == svg_to_bytes(svg_string=nothing):
        raise CannotDraw(
            "no font is installed that a PNG could be written with",
            help="install one, such as fonts-dejavu-core, or choose another format",
            hint=_SVG,
        )
    layout = lay_out(picture)
    scale = min(_SCALE, (_MOST_PIXELS / (layout.width * layout.height)) ** 0.5)
    drawn = render_svg(picture, "dark" if theme == "dark" else "light")
    return bytes(svg_to_bytes(svg_string=drawn, zoom=scale))
