"""From YAML to a graph: places, bounds, and one clear finding for whatever is no graph."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_research.errors import UserMistake
from graph_research.graph.definition.yaml_tree import parse_yaml, to_json
from graph_research.graph.errors import Finding, GraphInvalid
from graph_research.graph.loader import check_graph, load_graph
from graph_research.graph.registry import Registry
from graph_research.graph.resources import TextResolver
from graph_research.graph.source import Expression, Place
from graph_research.graph.values.json_schema import Contract
from tests.support.graph.sample_registry import SCHEMAS, registry

ROOT = Path(__file__).parents[3]
EXAMPLES = sorted((ROOT / "examples" / "graphs").glob("[!g]*.yaml"))  # but `guided`, which needs the research
COUNTDOWN = ROOT / "examples" / "graphs" / "countdown.yaml"


def one(text: str) -> Finding:
    findings = check_graph("g.yaml", text=text)
    assert len(findings) == 1, findings
    return findings[0]


def test_a_graph_of_inline_channels_needs_no_registry() -> None:
    graph = load_graph(COUNTDOWN)
    assert graph.spec.name == "countdown"
    assert graph.spec.channels["seen"].reduce == "append"
    assert graph.spec.loops["down"].most == 10
    assert graph.spec.nodes["tick"].kind == "set"
    assert graph.warnings == ()
    assert graph.programs["tick"].assign({"n": 3, "seen": []}) == {"seen": [3], "n": 2}
    assert graph.guards[0].evaluate({"n": 0}) is False


def test_everything_has_its_place() -> None:
    spec = load_graph(COUNTDOWN).spec
    line = COUNTDOWN.read_text().splitlines().index('  tick: {set: {seen: "[n]", n: n - 1}}') + 1
    file = str(COUNTDOWN)
    assert spec.nodes["tick"].place == Place(file, line, 3)
    assert spec.nodes["tick"].assignments["n"] == Expression("n - 1", Place(file, line, 32), Place(file, line, 29))
    assert spec.place("edges/0/when") == Place(file, line + 3, 34)
    assert spec.place("nodes/tick/output/into") == Place(file, line, 9)


def test_on_and_no_are_words_and_not_booleans() -> None:
    tree, findings = parse_yaml("on: [no, yes, off, true, 1, 1.5, ~, '2', 0x10, 1_000]", "g.yaml")
    assert not findings
    assert to_json(tree) == {"on": ["no", "yes", "off", True, 1, 1.5, None, "2", "0x10", "1_000"]}


def test_yaml_values_that_are_no_texts_stand_for_themselves() -> None:
    graph = load_graph(
        "g.yaml",
        text="""\
graph: g
start: a
state: {xs: {type: array, default: []}, flag: {type: boolean, default: false}, text: {type: string, default: ""}}
nodes:
  a: {set: {xs: [1, {k: word}], flag: true, text: '"word"'}}
  done: {end: completed}
edges: [{from: a, to: done, when: true}]
""",
    )
    assert graph.programs["a"].assign({}) == {"xs": [1, {"k": "word"}], "flag": True, "text": "word"}
    assert graph.guards[0].evaluate({}) is True


def test_a_list_that_names_a_channel_is_doubted() -> None:
    finding = one(
        "graph: g\nstart: a\nstate: {n: {default: 1}, xs: {default: []}}\nnodes:\n  a: {set: {xs: [n], n: n + 1}}"
        "\n  b: {end: completed}\nedges: [{from: a, to: b, when: len(xs) > 0}, {from: a, to: b}]\n"
    )
    assert (finding.code, finding.severity, finding.line, finding.column) == ("literal-names-channel", "warning", 5, 17)


def test_the_hash_is_of_the_meaning() -> None:
    text = COUNTDOWN.read_text()

    def of(changed: str) -> str:
        return load_graph("other.yaml", text=changed).spec.hash

    assert of(text) == of(
        "# a comment\n" + text.replace("{n: {type: integer, default: 3}", "{n: {default: 3, type: integer}")
    )
    assert of(text) == of(text.replace("start: tick", "summary: Counts down.\nstart: tick"))
    assert of(text) != of(text.replace("default: 3", "default: 4"))
    assert of(text) != of(
        text.replace("  done: {end: completed}\n", "").replace("nodes:\n", "nodes:\n  done: {end: completed}\n")
    )


def test_the_hash_of_the_whole_covers_subgraphs_and_schemas() -> None:
    text = (
        "graph: g\nstart: a\nnodes: {a: {graph: child, input: {with: {words: '[]'}}}, b: {end: completed}}\n"
        "edges: [{from: a, to: b}]\n"
    )
    child = registry().graphs.find("child")
    assert child
    graph = load_graph("g.yaml", text=text, registry=registry())
    changed = load_graph("g.yaml", text=text, registry=registry(child=child[0].replace("len(words)", "len(words) + 1")))
    assert graph.spec.hash == changed.spec.hash
    assert graph.hash != changed.hash
    assert graph.subgraphs["child"].spec.name == "child"


def test_the_hash_of_the_whole_covers_schemas_that_schemas_refer_to() -> None:
    text = "graph: g\nstart: b\nstate: decision_state\nnodes: {b: {end: completed}}"

    def of(action: str) -> str:
        decision = json.dumps({"enum": [action]})
        schemas = TextResolver(
            {"decision_state": json.dumps(SCHEMAS["decision_state"]), "decision": decision}, suffix=".json"
        )
        return load_graph("g.yaml", text=text, registry=Registry(schemas=schemas)).hash

    assert of("retry") == of("retry")
    assert of("retry") != of("rest")


def test_short_forms_are_spelled_out() -> None:
    text = """\
graph: g
start: a
state: {text: {type: string, input: true}, times: {type: integer}}
nodes: {a: {run: shout, input: shout.input, output: shout.output}, b: {set: {times: 2}}, c: {end: completed}}
edges: [{from: a, to: b}, {from: b, to: c}]
"""
    program = load_graph("g.yaml", text=text, registry=registry()).programs["a"]
    assert program.handoff({"text": "x", "times": None}) == {"text": "x"}
    assert program.handoff({"text": "x", "times": 2}) == {"text": "x", "times": 2}
    assert program.update({"output": {"text": "y"}}) == {"text": "y"}
    assert program.update({"output": {}}) == {}


def test_invalid_graphs_raise_all_their_findings_and_valid_ones_keep_their_warnings() -> None:
    broken = COUNTDOWN.read_text().replace("to: done", "to: doen").replace("n: n - 1", "m: n - 1")
    with pytest.raises(GraphInvalid) as invalid:
        load_graph("g.yaml", text=broken)
    assert [finding.code for finding in invalid.value.findings] == [
        "loop-never-changes",
        "unknown-channel",
        "unknown-node",
    ]
    assert (invalid.value.line, invalid.value.code) == (9, "graph-invalid")
    told = str(invalid.value).splitlines()
    assert [line.partition(":")[2].partition(":")[0] for line in told] == ["9", "13"]
    warned = load_graph("g.yaml", text=COUNTDOWN.read_text().replace("state: {", "state: {unused: {type: string}, "))
    assert [finding.code for finding in warned.warnings] == ["dead-channel"]


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ('{"properties": {\n  "n": {"type": "integer"},\n}}', "schemas/counted.json:3:1"),
        ('{"type": "objekt"}', "g.yaml:3:8"),
        ('{"type": "object"}', "g.yaml:3:8"),
        ("[]", "g.yaml:3:8"),
    ],
)
def test_a_state_schema_that_cannot_be_used_is_the_only_finding_about_its_channels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, schema: str, place: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("schemas").mkdir()
    Path("schemas/counted.json").write_text(schema)
    Path("g.yaml").write_text(
        "graph: g\nstart: tick\nstate: counted\nloops: {down: {while: n > 0, most: bound}}\n"
        "nodes: {tick: {set: {n: n - 1}}, done: {end: completed}}\n"
        "edges: [{from: tick, to: tick, loop: down}, {from: tick, to: done}]\n"
    )
    (finding,) = check_graph("g.yaml")
    assert f"{finding.file}:{finding.line}:{finding.column}" == place
    assert (finding.code, bool(finding.help)) == ("schema-invalid", True)


def test_random_bytes_are_one_message(tmp_path: Path) -> None:
    path = tmp_path / "g.yaml"
    path.write_bytes(b"graph: g\nname: \xff\xfe\x00")
    (finding,) = check_graph(path)
    assert (finding.code, finding.line, finding.column) == ("not-utf8", 2, 7)


def test_ten_megabytes_are_one_message(tmp_path: Path) -> None:
    path = tmp_path / "g.yaml"
    path.write_bytes(b"nodes:\n" + b"  a: {set: {}}\n" * 700_000)
    (finding,) = check_graph(path)
    assert finding.code == "too-large"
    assert one(path.read_text()).code == "too-large"


def test_a_bomb_of_brackets_or_aliases_is_one_message() -> None:
    assert one("[" * 200_000).code == "too-deep"
    assert one("{a: " * 50_000).code == "too-deep"
    assert one("- " * 50_000).code == "too-deep"
    assert one("a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n").code == "alias"
    assert one("[" + "x," * 60_000 + "]").code == "too-large"


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("", "wrong-type", 1),
        ("just words", "wrong-type", 1),
        ("- a\n- b", "wrong-type", 1),
        ("graph: g\nstart: a\n  nodes: {}", "yaml-syntax", 3),
        ("graph: g\n\tstart: a", "yaml-syntax", 2),
        ("graph: !!python/object:os.system x", "tag", 1),
        ("graph: g\n---\ngraph: h", "several-documents", 2),
        ("graph: 'g", "yaml-syntax", 1),
    ],
)
def test_what_is_no_graph_is_one_message_in_its_line(text: str, code: str, line: int) -> None:
    finding = one(text)
    assert (finding.code, finding.line) == (code, line)


def test_a_file_that_cannot_be_opened_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(UserMistake, match="No such file"):
        load_graph(tmp_path / "missing.yaml")
    with pytest.raises(UserMistake, match="cannot read"):
        check_graph(tmp_path)


@given(st.binary(max_size=300))
def test_no_bytes_ever_raise(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzz.yaml"
    path.write_bytes(data)
    assert check_graph(path)


SIGNS = ["{", "}", "[", "]", ":", ",", "- ", "\n", "  ", "'", '"', "*", "&a", "#", "|", ">", "1", "null", "\x00"]
WORDS = ["when: n > 0", "n", "a", "to: a", "on: error", "loop: down", "join: [tick]", "fork: all", "end: completed"]
PIECES = st.sampled_from([*SIGNS, *WORDS, "run: x", "graph: child"])


@settings(max_examples=300)
@given(st.sampled_from(EXAMPLES), st.data())
def test_mutated_graphs_give_findings_and_never_another_error(path: Path, data: st.DataObject) -> None:
    text = path.read_text()
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(start + 30, len(text))))
        text = text[:start] + "".join(data.draw(st.lists(PIECES, max_size=3))) + text[end:]
    findings = check_graph("fuzz.yaml", text=text, registry=registry())
    assert findings == sorted(findings)
    assert all(finding.line >= 1 and finding.column >= 1 and finding.message and finding.code for finding in findings)


@pytest.mark.requirement("1.2")
@pytest.mark.parametrize("path", [*EXAMPLES, *sorted((ROOT / "graphs").glob("*.yaml"))], ids=lambda path: path.stem)
def test_the_editors_schema_takes_every_graph_we_ship(path: Path) -> None:
    contract = Contract(json.loads((ROOT / "schemas" / "graph.json").read_text()), "graph")
    tree, findings = parse_yaml(path.read_text(), path.name)
    assert tree
    assert not findings
    contract.check(to_json(tree), path.stem)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_is_clean(path: Path) -> None:
    assert check_graph(path) == []
