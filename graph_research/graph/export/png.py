"""A graph as a PNG: the SVG drawn by resvg in the font Inter, both of which the extra `viz` installs."""

from __future__ import annotations

from graph_research.errors import Action, Hint, UserMistake
from graph_research.graph.export.layout import lay_out
from graph_research.graph.export.picture import Picture
from graph_research.graph.export.svg import Theme, render_svg

_SCALE = 2.0
_MOST_PIXELS = 60_000_000
_SVG = Hint(Action.SET_OPTION, options={"format": "svg"})


class CannotDraw(UserMistake):
    """The renderer or the font of PNGs is not installed."""


def render_png(picture: Picture, theme: Theme = "light", *, system_fonts: bool = True) -> bytes:
    """The picture at twice its size in pixels, a very large one at less. `auto` is light.

    The fonts of the system are used only for characters that Inter lacks. Raises `CannotDraw`.
    """
    try:
        from fontpkg_inter import FAMILY, ROOT
        from resvg_py import svg_to_bytes
    except ImportError:
        raise CannotDraw(
            "a PNG needs the extra `viz`",
            help="pip install 'graph-research[viz]', or choose another format",
            hint=_SVG,
        ) from None
    layout = lay_out(picture)
    scale = min(_SCALE, (_MOST_PIXELS / (layout.width * layout.height)) ** 0.5)
    svg = render_svg(picture, "dark" if theme == "dark" else "light")
    fonts = {"font_dirs": [str(ROOT)], "sans_serif_family": FAMILY, "skip_system_fonts": not system_fonts}
    return bytes(svg_to_bytes(svg_string=svg, zoom=scale, **fonts))
