"""A graph as one interactive HTML page: move, zoom, search, and details of each node. One file, no network."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from graph_research.graph.definition.spec import EdgeSpec, GraphSpec
from graph_research.graph.export.labels import edge_rows, node_rows
from graph_research.graph.export.picture import NodeVisit, Picture
from graph_research.graph.export.svg import Theme, colours, render_svg, style
from graph_research.graph.statuses import FAILURES, CallStatus, StepStatus

_MOST_CHARS = 6_000
_MOST_PAGE_CHARS = 6_000_000
"""Values are cut to the first; those after the second are left out."""


def render_html(picture: Picture, theme: Theme = "auto") -> str:
    """The page. Whatever comes from the definition or the run is data that our script shows as text; the content
    security policy names our script and styles by hash and allows nothing else."""
    folder = files(__package__)
    page, script, css = (folder.joinpath(f"page.{kind}").read_text(encoding="utf-8") for kind in ("html", "js", "css"))
    page_style = colours() + css
    return Template(page).substitute(
        theme="" if theme == "auto" else f' data-theme="{theme}"',
        script_hash=_hashes(script),
        style_hashes=_hashes(style("auto"), page_style),
        name=escape(picture.spec.name),
        about=escape(_about(picture)),
        style=page_style,
        picture=render_svg(picture),
        data=_data(picture),
        script=script,
    )


def _about(picture: Picture) -> str:
    facts = picture.overlay.facts if picture.overlay else {}
    stated = " · ".join(f"{name} {value}" for name, value in facts.items() if name != "graph")
    return " — ".join(text for text in (stated, picture.spec.summary) if text)


def _hashes(*texts: str) -> str:
    digests = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts)
    return " ".join(f"'sha256-{digest}'" for digest in digests)


def _data(picture: Picture) -> str:
    entries = _Entries()
    entries.add(picture, "")
    text = json.dumps({"nodes": entries.nodes, "edges": entries.edges}, ensure_ascii=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


class _Entries:
    """The details of each node and edge, by their keys in the picture."""

    def __init__(self) -> None:
        self.nodes: dict[str, dict[str, Any]] = {}
        self.edges: dict[str, dict[str, Any]] = {}
        self._left = _MOST_PAGE_CHARS

    def add(self, picture: Picture, path: str) -> None:
        for name in picture.spec.nodes:
            self.nodes[path + name] = self._node(picture, name, path)
        for edge in picture.spec.edges:
            self.edges[f"{path}#{edge.index}"] = self._edge(picture, edge, path)
        for name, inner in picture.inner.items():
            self.add(inner, f"{path}{name}/")

    def _node(self, picture: Picture, name: str, path: str) -> dict[str, Any]:
        node, overlay = picture.spec.nodes[name], picture.overlay
        stats = overlay.nodes.get(name) if overlay else None
        visits = overlay.visits.get(name, ()) if overlay else ()
        more = stats.visits + stats.items - len(visits) if stats and visits else 0
        definition = _excerpt(picture.spec, f"nodes/{name}")
        rows = list(node_rows(node))
        return {
            "path": path + name,
            "title": name,
            "rows": rows,
            "summary": node.summary,
            "definition": definition,
            "ran": stats.note if stats else "",
            "failed": bool(stats and stats.errors),
            "visits": [self._visit(visit) for visit in visits],
            "omitted": f"and {more} more" if more > 0 else "",
            "sources": [[title, self._cut(text)] for title, text in picture.sources.get(name, {}).items()],
            "text": " ".join((path + name, *rows, node.summary, definition)).lower(),
        }

    def _edge(self, picture: Picture, edge: EdgeSpec, path: str) -> dict[str, Any]:
        times = picture.overlay.taken.get(edge.index, 0) if picture.overlay else 0
        rows = edge_rows(edge, picture.spec) or ("always",)
        source = "any node" if edge.source == "*" else edge.source
        return {
            "path": f"{path}{source} → {edge.target}",
            "title": f"{source} → {edge.target}",
            "rows": rows,
            "summary": "",
            "definition": _excerpt(picture.spec, f"edges/{edge.index}"),
            "ran": "" if picture.overlay is None else f"taken {times} ×" if times else "not taken",
            "failed": False,
            "visits": [],
            "omitted": "",
            "sources": [],
            "text": " ".join((source, edge.target, *rows)).lower(),
        }

    def _visit(self, visit: NodeVisit) -> dict[str, Any]:
        again = f" · attempt {visit.attempt}" if visit.attempt > 1 else ""
        came = "error" if visit.status in FAILURES else "output"
        parts = [(name, value) for name, value in (("input", visit.input), (came, visit.output)) if value]
        return {
            "title": f"{visit.where} · visit {visit.visit}{again} · {visit.status} · {visit.seconds:.3f} s · "
            f"{visit.started_at}",
            "failed": visit.status == StepStatus.FAILED,
            "parts": [[name, self._shown(value)] for name, value in parts],
            "calls": [self._call(call) for call in visit.calls],
        }

    def _call(self, call: Mapping[str, Any]) -> dict[str, Any]:
        parts = [*self._parts("request", call["request"]), *self._parts("answer", call["answer"])]
        title = f"{call['kind']} · {call['status']} · {call['seconds']} s"
        return {"title": title, "failed": call["status"] == CallStatus.FAILED, "parts": parts}

    def _parts(self, name: str, value: Any) -> list[list[str]]:
        """Texts of some length each on its own, such as the prompts of a model call; the rest as JSON."""
        if not isinstance(value, Mapping):
            return [] if value is None else [[name, self._shown(value)]]
        texts = {key: text for key, text in value.items() if isinstance(text, str) and len(text) > 120}
        rest = {key: other for key, other in value.items() if key not in texts}
        parts = [[f"{name}: {key}", self._cut(text)] for key, text in texts.items()]
        return [*parts, *([[f"{name}: rest" if texts else name, self._shown(rest)]] if rest else [])]

    def _shown(self, value: Any) -> str:
        return self._cut(json.dumps(value, indent=2, ensure_ascii=False, default=str))

    def _cut(self, text: str) -> str:
        if self._left <= 0:
            return "left out: the page is full"
        shown = text if len(text) <= _MOST_CHARS else f"{text[:_MOST_CHARS]}… ({len(text) - _MOST_CHARS:,} more)"
        self._left -= len(shown)
        return shown


def _excerpt(spec: GraphSpec, path: str) -> str:
    """The YAML lines of the entry at `path`: its first line and those that are indented further."""
    place = spec.places.get(f"{path}:key") or spec.places.get(path)
    lines: Sequence[str] = spec.text.splitlines()
    if place is None or not 0 < place.line <= len(lines):
        return ""
    first = lines[place.line - 1]
    indent = len(first) - len(first.lstrip())
    excerpt = [first]
    for line in lines[place.line :]:
        if line.strip() and len(line) - len(line.lstrip()) <= indent:
            break
        excerpt.append(line)
    while not excerpt[-1].strip() or excerpt[-1].lstrip().startswith("#"):
        excerpt.pop()
    return "\n".join(line[indent:] for line in excerpt)
