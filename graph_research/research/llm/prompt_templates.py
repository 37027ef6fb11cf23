"""Prompts: templates rendered in a sandbox, and quoted text between markers that it cannot contain."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache, lru_cache, partial
from types import CodeType
from typing import Any, TypeVar

from jinja2 import FunctionLoader, StrictUndefined, TemplateError, TemplateNotFound, nodes
from jinja2.bccache import Bucket, BytecodeCache
from jinja2.exceptions import SecurityError
from jinja2.meta import find_undeclared_variables
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

from graph_research.errors import UserMistake
from graph_research.graph.registry import Resolver, TemplateInvalid, TemplateName
from graph_research.research.llm.answer_type import answer_type

_T = TypeVar("_T")

_LABEL_CHARS = 80
_MOST_COMPILED = 1_000
_MARKER_DIGITS = 6
"""Each costs tokens twice a quotation. That a text does not hold its own marker is looked at, whatever its length."""
_RECENT_MARKERS = 64
"""A prompt that is being fitted into a window quotes the same texts a dozen times."""
_FILTERS = frozenset(
    re.findall(
        r"\w+",
        """
        abs capitalize count d default dictsort e escape first float groupby int items join last length list lower map
        max min reject rejectattr reverse round select selectattr slice sort string sum title trim truncate unique upper
        """,
    )
)
"""Filters of Jinja that cannot make a text much longer than what they are given."""
_SYNTAX_HELP = "templates are written as in Jinja: {{ name }}, {% if name %} … {% endif %}"
_NUMBER_FORMAT = re.compile(r"(?:[^%]|%%|%(?:\.\d)?[dfs])*")


class PromptInvalid(UserMistake):
    """A template that is missing, does not parse, or asks for something that the agent does not give it."""


class PromptRenderer:
    """Renders templates by name (`planner/system`) from a resolver's folders; nothing else can be loaded.

    A template sees the values it is given, as plain JSON, and one function, `quoted(text, label)`. An unknown name in
    it is an error, and it can change nothing it was given.
    """

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._environment = _Sandbox(
            loader=FunctionLoader(partial(_source, resolver)),
            undefined=StrictUndefined,
            autoescape=False,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            bytecode_cache=_compiled(),
        )
        self._environment.globals = {"quoted": quoted}
        allowed = {name: self._environment.filters[name] for name in sorted(_FILTERS)}
        self._environment.filters = {**allowed, "json": _as_json, "format": _formatted, "type": answer_type}

    def render(self, name: str, values: Mapping[str, Any]) -> str:
        """The text of template `name`. `PromptInvalid` names the template and, where it is known, the line."""
        try:
            return self._environment.get_template(name).render(values).strip()
        except TemplateNotFound as error:
            raise PromptInvalid(f'no prompt "{error.name}"', help=f"add prompts/{error.name}.j2") from error
        except TemplateError as error:
            raise PromptInvalid(
                f'prompt "{name}" cannot be rendered: {error.message}',
                help="use only names that the agent gives to its prompts (docs, reference)",
                file=getattr(error, "filename", None) or f"prompts/{name}.j2",
                line=getattr(error, "lineno", None),
            ) from error
        except (ArithmeticError, RecursionError, TypeError, ValueError) as error:
            raise PromptInvalid(
                f'prompt "{name}" cannot be rendered: {error}', help=f"correct prompts/{name}.j2"
            ) from error

    def names(self, name: str) -> list[TemplateName]:
        """The names that template `name` and those it includes take from the values they are given, the first use of
        each. One whose absence a template looks for (`is defined`, `default`) is left out. `TemplateInvalid` for a
        template that is missing or does not parse."""
        used: dict[str, TemplateName] = {}
        for found in self._used(name, always=True, seen=frozenset()):
            known = used.get(found.name)
            if known is None or (found.always and not known.always):
                used[found.name] = found
        return list(used.values())

    def _used(
        self, name: str, *, always: bool, seen: frozenset[str], by: tuple[str, int] | None = None
    ) -> Iterator[TemplateName]:
        """`by` is the file and line that include the template."""
        tree, file = self._parsed(name, by)
        taken = find_undeclared_variables(tree) - self._environment.globals.keys() - _looked_for(tree)
        sure = {id(node) for node in _executed(tree)} if always else frozenset()
        for node in tree.find_all(nodes.Name):
            if node.name in taken and node.ctx == "load":
                yield TemplateName(name=node.name, file=file, line=node.lineno, always=id(node) in sure)
        bound = {node.name for node in tree.find_all(nodes.Name) if node.ctx != "load"}
        for include, inner in _included(tree):
            if inner not in seen:
                at = (file, include.lineno)
                found = self._used(inner, always=id(include) in sure, seen=seen | {name}, by=at)
                yield from (each for each in found if each.name not in bound)

    def _parsed(self, name: str, by: tuple[str, int] | None) -> tuple[nodes.Template, str]:
        """A template and its file."""
        asked_in, line = by or (None, None)
        try:
            text, file, _ = _source(self._resolver, name)
        except TemplateNotFound as error:
            help = f"add prompts/{error.name}.j2"
            raise TemplateInvalid(f'no prompt "{error.name}"', help=help, file=asked_in, line=line) from error
        try:
            tree = self._environment.parse(text, name, file)
            self._environment.compile(tree, name, file)  # which knows filters and tests
        except TemplateError as error:
            line = getattr(error, "lineno", None)
            raise TemplateInvalid(error.message or "not a template", help=_SYNTAX_HELP, file=file, line=line) from error
        except RecursionError as error:
            raise TemplateInvalid("it is nested too deeply", help="write it more simply", file=file) from error
        return tree, file

    def compile_all(self) -> None:
        """Compile every template, once in a process; those that do not parse are left to `render`."""
        if _compiled().all_asked:
            return
        _compiled().all_asked = True
        for name in self._resolver.names():
            with suppress(TemplateError, UserMistake):
                self._environment.get_template(name)

    async def off_loop(self, work: Callable[[], _T]) -> _T:
        """The result of `work`, which renders prompts; where rendering blocks, it is done in a thread."""
        return work()

    def exists(self, name: str) -> bool:
        """Whether there is a template `name`."""
        return self._resolver.find(name) is not None


def quoted(text: str, label: str) -> str:
    """`text` between two marker lines that cannot occur in it, so that nothing in it can end the quotation.

    The markers hold a number made from the text itself; equal texts give equal markers. `label` says what is quoted
    and is cut to letters, digits and a few signs.
    """
    marker = _marker(text)
    return f"[{marker}: {_clean_label(label)}]\n{text}\n[/{marker}]"


@lru_cache(_RECENT_MARKERS)
def _marker(text: str) -> str:
    folded = text.casefold()
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass"))
    while True:
        marker = f"QUOTED-{digest.hexdigest()[:_MARKER_DIGITS]}"
        if marker.casefold() not in folded:
            return marker
        digest.update(b"again")


def _clean_label(label: str) -> str:
    return re.sub(r"[^\w .,:#-]", " ", label)[:_LABEL_CHARS].strip()


def _formatted(pattern: str, *values: Any) -> str:
    """`"%.2f" | format(number)`, without widths."""
    if not _NUMBER_FORMAT.fullmatch(pattern):
        raise SecurityError("`format` takes %d, %s, %f and %.2f, without a width")
    return pattern % values


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=False)


def _looked_for(tree: nodes.Template) -> set[str]:
    """Names of which a template asks whether they are there."""
    tests = (node for node in tree.find_all(nodes.Test) if node.name in {"defined", "undefined"})
    filters = (node for node in tree.find_all(nodes.Filter) if node.name in {"d", "default"})
    return {node.node.name for node in (*tests, *filters) if isinstance(node.node, nodes.Name)}


def _included(tree: nodes.Template) -> Iterator[tuple[nodes.Node, str]]:
    """The templates that must be there for this one, where it names them itself."""
    for extends in tree.find_all(nodes.Extends):
        if isinstance(extends.template, nodes.Const):
            yield extends, str(extends.template.value)
    for include in tree.find_all(nodes.Include):
        if isinstance(include.template, nodes.Const) and not include.ignore_missing:
            yield include, str(include.template.value)


def _executed(node: nodes.Node) -> Iterator[nodes.Node]:
    """The nodes that every rendering comes to: what no condition, loop or macro may leave out."""
    yield node
    inner = {nodes.If: ["test"], nodes.CondExpr: ["test"], nodes.For: ["iter"], nodes.And: ["left"], nodes.Or: ["left"]}
    if not isinstance(node, nodes.Macro):
        for child in node.iter_child_nodes(only=inner.get(type(node))):
            yield from _executed(child)


class _Sandbox(ImmutableSandboxedEnvironment):
    """Jinja's sandbox, in which no sign and no method makes a text of a size that the template chooses."""

    intercepted_binops = frozenset({"*", "**", "%"})

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        if operator == "**" or not all(isinstance(value, (int, float)) for value in (left, right)):
            raise SecurityError(f"`{operator}` is only for numbers, and `**` for none")
        return super().call_binop(context, operator, left, right)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        return not isinstance(obj, (str, bytes)) and super().is_safe_attribute(obj, attr, value)

    def wrap_str_format(self, value: Any) -> None:  # noqa: ARG002 -- the base class' argument; `format` is no exception
        return None


class _Compiled(BytecodeCache):
    """The compiled templates of this process, by name and text: a server renders the same ones again and again."""

    def __init__(self) -> None:
        self._code: dict[tuple[str, str], CodeType] = {}
        self.all_asked = False
        """Whether all templates of a run were compiled ahead."""

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._code.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        if bucket.code is not None and len(self._code) < _MOST_COMPILED:
            self._code[bucket.key, bucket.checksum] = bucket.code


@cache
def _compiled() -> _Compiled:
    return _Compiled()


def _source(resolver: Resolver, template: str) -> tuple[str, str, Callable[[], bool]]:
    """What Jinja's loader returns: a template's text, its file, and whether that is still current."""
    name = template.removesuffix(".j2")
    located = resolver.find(name)
    if located is None:
        raise TemplateNotFound(name)
    return *located, lambda: True
