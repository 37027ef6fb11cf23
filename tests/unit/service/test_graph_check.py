"""A graph of one's own: what is wrong with it, and its picture, by a process that knows only what is shipped."""

from __future__ import annotations

import sys
from pathlib import Path

import httpx
import pytest

from graph_research.service.untrusted.checking import Allowance, GraphRefused, check_graph
from tests.support.service.service_client import ServiceClient

CHECK = "/api/research/graphs/check"
ROOT = Path(__file__).parents[3]


async def check(service: ServiceClient, definition: str, picture: str | None = None) -> httpx.Response:
    return await service.post(CHECK, {"definition": definition, "picture": picture})


@pytest.mark.parametrize(("picture", "begin"), [("svg", "<svg"), ("mermaid", "flowchart"), (None, "")])
async def test_a_valid_graph_is_drawn(service: ServiceClient, picture: str | None, begin: str) -> None:
    text = (ROOT / "examples" / "graphs" / "countdown.yaml").read_text()
    found = (await check(service, text, picture)).json()
    assert (found["valid"], found["findings"]) == (True, [])
    assert (found["picture"] or "").lower().startswith(begin)


async def test_each_finding_has_its_place_and_a_remedy(service: ServiceClient) -> None:
    text = (ROOT / "examples" / "graphs" / "countdown.yaml").read_text().replace("to: done", "to: dome")
    found = (await check(service, text, "svg")).json()
    assert (found["valid"], found["picture"]) == (False, None)
    [finding] = [row for row in found["findings"] if row["code"] == "unknown-node"]
    assert (finding["line"], finding["severity"]) == (13, "error")
    assert "done" in finding["help"]


async def test_a_graph_knows_what_is_shipped_and_nothing_that_the_operator_has(service: ServiceClient) -> None:
    home = service.app.workspace.home.path
    (home / "graphs").mkdir()
    shipped = (ROOT / "examples" / "graphs" / "countdown.yaml").read_text()
    (home / "graphs" / "secret.yaml").write_text(shipped.replace("countdown", "secret"))
    text = 'graph: mine\nversion: "1"\nstart: a\nnodes:\n  a: {graph: secret}\n  z: {end: completed}\n'
    text += "edges:\n  - {from: a, to: z}\n"
    answer = await check(service, text, "svg")
    assert not answer.json()["valid"]
    assert str(home) not in answer.text


@pytest.mark.parametrize(
    "definition",
    [
        "[" * 190_000,
        "a: &a [x]\nb: [" + "*a, " * 40_000 + "]",
        "{",
        "\x00",
        "- " * 90_000,
        "graph: g\nversion: '1'\nstart: n0\nnodes:\n" + "".join(f"  n{i}: {{run: os.system}}\n" for i in range(6_000)),
        "graph: g\nversion: '1'\nstart: a\nnodes:\n  a: {run: 'subprocess:run'}\n",
    ],
)
async def test_a_hostile_graph_is_answered(service: ServiceClient, definition: str) -> None:
    answer = await check(service, definition, "svg")
    assert answer.status_code in (200, 422), answer.text
    assert answer.status_code == 422 or not answer.json()["valid"]


async def test_text_that_is_none_is_refused(service: ServiceClient) -> None:
    for body in (rb'{"definition": "\ud800"}', b'{"definition": ""}', b'{"definition": "graph: a", "picture": "png"}'):
        answer = await service.http.post(CHECK, content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code == 422 or not answer.json()["valid"], answer.text
    assert (await service.post(CHECK, {"definition": "x" * 200_001})).status_code == 422


@pytest.mark.parametrize("least", [{"memory_bytes": 1 << 20}, {"seconds": 0.01}])
async def test_a_graph_that_takes_too_much_is_given_up(least: dict[str, float]) -> None:
    allowance = {"memory_bytes": 1 << 29, "cpu_seconds": 10, "seconds": 20, **least}
    with pytest.raises(GraphRefused, match="too much"):
        await check_graph("graph: a", "", allowance=Allowance(**allowance))  # type: ignore[arg-type]  # -- of the parameters


async def test_a_check_has_no_key_and_no_home_of_the_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The child process, replaced by one that says what it was given."""
    told = tmp_path / "python"
    told.write_text(f"#!{sys.executable}\nimport json, os\nprint(json.dumps(dict(os.environ)))\n")
    told.chmod(0o700)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("GRAPH_RESEARCH_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(told))
    given = await check_graph("graph: a", "")
    assert "sk-secret" not in given.values()
    assert str(tmp_path) not in given["GRAPH_RESEARCH_HOME"]
    assert given["GRAPH_RESEARCH_HOME"].startswith(given["HOME"])
