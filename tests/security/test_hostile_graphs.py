"""A graph that somebody else wrote: it names only what the program registered, and its words are text in a picture."""

from __future__ import annotations

import re
import sys
from typing import Any
from xml.etree import ElementTree

import pytest

from graph_research.graph.errors import GraphInvalid
from graph_research.graph.export import TEXT_RENDERERS, picture_of
from graph_research.graph.loader import load_graph
from graph_research.graph.values.codec import decode, duplicate, encode

GRAPH = """\
graph: theirs
version: "1"
state: {n: {type: integer, default: 3}, xs: {type: array, default: []}}
start: first
nodes:
  first: FIRST
  done: {end: completed}
edges:
  - {from: first, to: done}
"""
IMAGE = "<image href='http://evil.example/x.png' onload='alert(1)'/>"


@pytest.mark.parametrize(
    "first",
    [
        "{run: os.system}",
        "{run: 'os:system'}",
        "{run: antigravity}",
        "{run: graph_research.app.files.write_atomically}",
        "{run: ../handlers/evil.py}",
        "{prompt: ../../etc/passwd, output: n}",
        "{graph: ../other.yaml}",
        "{run: x, input: /etc/passwd}",
        "{run: x, input: 'http://127.0.0.1:9/schema.json'}",
        '{set: {n: \'__import__("os").system("id")\'}}',
        "{set: {n: 'open(\"/etc/passwd\")'}}",
        "{set: {n: 'xs.__class__'}}",
        "{set: {xs: '[x for x in [1] * 10 ** 9]'}}",
        '!!python/object/apply:os.system ["id"]',
    ],
)
def test_a_graph_names_nothing_that_was_not_registered(first: str) -> None:
    loaded = set(sys.modules)
    with pytest.raises(GraphInvalid):
        load_graph("theirs.yaml", text=GRAPH.replace("FIRST", first))
    assert "antigravity" not in set(sys.modules) - loaded


def test_the_words_of_a_graph_are_text_in_a_picture() -> None:
    hostile = f'</text></svg><script>alert(1)</script>{IMAGE} ]]> --> " \\" `'
    condition = "n == 3 or '</script>' in ['<img>']"
    text = GRAPH.replace("FIRST", '{set: {n: "n"}, summary: SUMMARY}').replace(
        "to: done}", f'to: done, when: "{condition}"}}\n  - {{from: first, to: done}}'
    )
    graph = load_graph("theirs.yaml", text=text.replace("SUMMARY", "'" + hostile.replace("'", "''") + "'"))
    picture = picture_of(graph)
    names = {part.tag.rpartition("}")[2] for part in ElementTree.fromstring(TEXT_RENDERERS["svg"](picture)).iter()}
    assert not names & {"script", "image", "img", "foreignObject"}
    assert not {"<script>", "<img>"} & set(re.findall("<[a-z]+>", TEXT_RENDERERS["mermaid"](picture)))
    assert not re.search("= *<", TEXT_RENDERERS["dot"](picture)), "only a value in <> is markup in dot"


@pytest.mark.parametrize(
    "value",
    [
        {"$type": "datetime", "value": "2020-01-01T00:00:00"},
        {"$type": "os.system", "value": "id"},
        {"$type": "text", "value": "0" * 64},
        {"$$type": "bytes", "$blob": "x", "__class__": "os.system", "py/object": "os.system"},
        {"deep": [{"$type": {"$type": "text"}}, '{"$type":"text","value":"x"}']},
    ],
)
def test_data_that_imitates_a_tag_comes_back_as_the_data_it_was(value: Any) -> None:
    texts: dict[str, str] = {}
    assert decode(encode(value, texts), texts) == value
    assert duplicate(value) == value


def test_a_tag_of_an_unknown_type_is_an_error_and_imports_nothing() -> None:
    loaded = set(sys.modules)
    with pytest.raises(LookupError):
        decode(b'{"$type":"antigravity","value":"x"}', {})
    assert "antigravity" not in set(sys.modules) - loaded
