"""The plan of a run that waits with it: read from the run, written as a text to edit, and read back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graph_research.app.request import valid_text
from graph_research.errors import UserMistake, suggestion
from graph_research.graph.definition import yaml_tree
from graph_research.graph.definition.yaml_tree import Scalar, Tree, YamlMapping, parse_yaml
from graph_research.research.models.ids import sub_query_id
from graph_research.research.models.plan import ChecklistItem, ChecklistKind, SubQuery

_MOST_SUB_QUERIES, _MOST_POINTS, _MOST_CHARS = 8, 30, 1_000
_SOURCE_TYPES = ("web", "academic", "news")
_PARTS = ("research_brief", "sub_queries", "checklist")
_SHOWN_BESIDE = frozenset({"run_id", "question", "providers", "models", "estimate", "status"})
"""What the JSON of a plan shows beside what can be changed."""
_SUB_QUERY_FACTS = frozenset({"id", "status", "iteration", "gap_id", "further_queries", "error"})
_HEAD = """\
# The plan. Change, add or remove what you like, then save and leave the editor.
# query: what is searched for; priority: 1 is the most important; source_types: web, academic, news (none: all).
# look_for: what its sources should say; the library is searched for each, and long texts are read around these.
# The checklist is what the report has to answer; kind: part, comparison, decision, number or risk.
"""

_QUOTE_HELP = "a text that contains `: `, `[`, `{` or a quote stands in quotes"


class PlanInvalid(UserMistake):
    """A plan that cannot be used; `problems` are its lines and what is wrong there."""

    def __init__(self, problems: Sequence[tuple[int, str]], file: str) -> None:
        first_line, first = problems[0]
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        super().__init__(f"{first}{more}", file=file, line=first_line)
        self.problems = tuple(problems)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a run is going to do. `sub_queries` and `checklist` are rows of the run's channels of these names."""

    research_brief: str | None = None
    sub_queries: Sequence[Mapping[str, Any]] = field(default_factory=tuple)
    checklist: Sequence[Mapping[str, Any]] = field(default_factory=tuple)

    @classmethod
    def of_state(cls, state: Mapping[str, Any]) -> Plan:
        """The plan in the channels of a run."""
        return cls(**{name: state[name] for name in _PARTS if state.get(name)})

    def to_json(self) -> dict[str, Any]:
        """The plan as the run takes it up."""
        return {
            "research_brief": self.research_brief,
            "sub_queries": [dict(row) for row in self.sub_queries],
            "checklist": [dict(row) for row in self.checklist],
        }

    def text(self) -> str:
        """The plan as YAML, for an editor."""
        lines = [_HEAD, f"research_brief: {_quoted(self.research_brief or '')}", "", "sub_queries:"]
        for row in self.sub_queries:
            lines += [f"  - query: {_quoted(row['query'])}", f"    rationale: {_quoted(row.get('rationale') or '')}"]
            lines.append(f"    priority: {row.get('priority', 1)}")
            lines.append(f"    source_types: [{', '.join(row.get('source_types') or ())}]")
            if row.get("look_for"):
                lines += ["    look_for:", *(f"      - {_quoted(text)}" for text in row["look_for"])]
        lines += ["", "checklist:" if self.checklist else "checklist: []"]
        for row in self.checklist:
            lines += [f"  - text: {_quoted(row['text'])}", f"    kind: {row.get('kind', ChecklistKind.PART.value)}"]
        return "\n".join([*lines, ""])


def read_plan(text: str, file: str) -> Plan:
    """The plan in a YAML or JSON text, such as `Plan.text` or the JSON of a `PlannedRun`. `PlanInvalid` has every
    problem with its line."""
    tree, findings = parse_yaml(text, file)
    if findings:
        raise PlanInvalid([(finding.line, f"{finding.message}; {_QUOTE_HELP}") for finding in findings], file)
    if not isinstance(tree, YamlMapping):
        raise PlanInvalid([(1, "a plan has research_brief, sub_queries and checklist")], file)
    reader = _Reader()
    plan = reader.plan(tree)
    if reader.problems:
        raise PlanInvalid(sorted(reader.problems), file)
    return plan


class _Reader:
    """Reads a tree as a plan and collects what is wrong with it."""

    def __init__(self) -> None:
        self.problems: list[tuple[int, str]] = []

    def plan(self, tree: YamlMapping) -> Plan:
        self._check_keys(tree, _PARTS, _SHOWN_BESIDE)
        brief = self._text(tree, "research_brief", required=False)
        sub_queries = [self._sub_query(row, place) for place, row in self._rows(tree, "sub_queries", _MOST_SUB_QUERIES)]
        if tree.get("sub_queries") is None or (not sub_queries and not self.problems):
            self.problems.append((tree.place.line, "a plan has at least one sub-query"))
        points = [self._point(row, place) for place, row in self._rows(tree, "checklist", _MOST_POINTS)]
        return Plan(research_brief=brief or None, sub_queries=sub_queries, checklist=points)

    def _sub_query(self, row: YamlMapping, place: int) -> dict[str, Any]:
        self._check_keys(row, ("query", "rationale", "priority", "source_types", "look_for"), _SUB_QUERY_FACTS)
        return SubQuery(
            id=sub_query_id(1, place),
            query=self._text(row, "query") or "-",
            rationale=self._text(row, "rationale", required=False),
            priority=self._priority(row, place),
            source_types=self._source_types(row),
            look_for=self._looked_for(row),
        ).to_json()

    def _point(self, row: YamlMapping, place: int) -> dict[str, Any]:
        self._check_keys(row, ("text", "kind"), frozenset({"id"}))
        kind = self._text(row, "kind", required=False) or ChecklistKind.PART.value
        if kind not in set(ChecklistKind):
            self._add(row.get("kind"), f"kind is {', '.join(ChecklistKind)}, not {kind[:40]!r}")
            kind = ChecklistKind.PART.value
        return ChecklistItem(id=f"chk-{place}", text=self._text(row, "text") or "-", kind=ChecklistKind(kind)).to_json()

    def _priority(self, row: YamlMapping, place: int) -> int:
        given = row.get("priority")
        value = given.value if isinstance(given, Scalar) else place
        if given is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
            self._add(given, "priority is a whole number from 1")
        return value if isinstance(value, int) and value >= 1 else place

    def _looked_for(self, row: YamlMapping) -> list[str]:
        given = row.get("look_for")
        texts = [] if given is None else yaml_tree.to_json(given) or []
        if not isinstance(texts, list) or not all(isinstance(text, str) and len(text) <= _MOST_CHARS for text in texts):
            self._add(given, f"look_for is a list of texts of at most {_MOST_CHARS} characters")
            return []
        return texts

    def _source_types(self, row: YamlMapping) -> list[str]:
        given = row.get("source_types")
        kinds = [] if given is None else yaml_tree.to_json(given) or []
        if not isinstance(kinds, list) or not set(map(str, kinds)) <= set(_SOURCE_TYPES):
            self._add(given, f"source_types is a list of {', '.join(_SOURCE_TYPES)}")
            return []
        return [kind for kind in _SOURCE_TYPES if kind in kinds]

    def _rows(self, tree: YamlMapping, name: str, most: int) -> Iterator[tuple[int, YamlMapping]]:
        given = tree.get(name)
        if given is None or (isinstance(given, Scalar) and given.value is None):
            return
        if not isinstance(given, yaml_tree.Sequence):
            self._add(given, f"{name} is a list, each entry on a line with a hyphen")
            return
        if len(given.items) > most:
            self._add(given.items[most], f"{name} has at most {most} entries")
        for place, row in enumerate(given.items[:most], start=1):
            if isinstance(row, YamlMapping):
                yield place, row
            else:
                self._add(row, f"an entry of {name} is written as `{'query' if name == 'sub_queries' else 'text'}: …`")

    def _text(self, row: YamlMapping, name: str, *, required: bool = True) -> str:
        given = row.get(name)
        if given is None or (isinstance(given, Scalar) and given.value is None):
            if required:
                self._add(given or row, f"{name} is missing")
            return ""
        text = " ".join(given.text.split()) if isinstance(given, Scalar) else ""
        if not isinstance(given, Scalar):
            self._add(given, f"{name} is a text")
        elif not text and required:
            self._add(given, f"{name} is empty")
        elif not valid_text(text):
            self._add(given, f"{name} has characters that no text has")
        elif len(text) > _MOST_CHARS:
            self._add(given, f"{name} has {len(text):,} characters, at most {_MOST_CHARS:,} are allowed")
        return text

    def _check_keys(self, row: YamlMapping, known: Sequence[str], ignored: frozenset[str]) -> None:
        for key, _ in row.entries:
            if key.text not in known and key.text not in ignored:
                near = suggestion(key.text, known)
                self._add(key, f"{key.text[:40]!r} is not known here; {near}known are {', '.join(known)}")

    def _add(self, where: Tree | None, problem: str) -> None:
        self.problems.append((where.place.line if where is not None else 1, problem))


def _quoted(text: str) -> str:
    """A text on one line, readable where it needs no quotes."""
    return json.dumps(" ".join(text.split()), ensure_ascii=False)
