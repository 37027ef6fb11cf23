"""No answer of the service names the address of a model of the operator's."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph_research.service.http.addresses import labels_of
from graph_research.settings.config import Settings
from tests.support.cli.cli_process import User
from tests.support.cli.cli_user import QUESTION
from tests.support.network.fake_services import Faults, open_world
from tests.support.service.service_client import JOBS, service_client

ROUTES = (
    "",
    "/result",
    "/report.json",
    "/report.md",
    "/report.html",
    "/events",
    "/history",
    "/history/{step}",
    "/diff/{id}",
)


async def test_no_answer_names_the_address_of_a_model(user: User, tmp_path: Path) -> None:
    """The state of this run notes it, its events say whom a request was sent to again, its report which model wrote."""
    faults = Faults(context_errors=frozenset({"analyzer"}), deaf_agents=frozenset({"editor"}))
    with open_world(tmp_path / "calls", faults=faults) as world:
        host = f"0.0.0.0:{world.port}"
        async with service_client(user, default_provider=(f"openai:world@http://{host}/v1",)) as service:
            job_id = await service.submitted(QUESTION)
            await service.drive()
            step = (await service.get(f"{JOBS}/{job_id}/history")).json()["steps"][-1]["step"]
            answers = [await service.get(f"{JOBS}/{job_id}{path.format(step=step, id=job_id)}") for path in ROUTES]
            told = (await service.app.report(job_id)).report.model_dump_json()
    assert host in told, "the test would see it"
    assert [answer.status_code for answer in answers] == [200] * len(ROUTES)
    assert [path for path, answer in zip(ROUTES, answers, strict=True) if host in answer.text] == []
    assert "openai:world@http://server-1.invalid" in answers[2].text
    assert answers[2].json()["run_id"] == job_id


@pytest.mark.parametrize(
    ("spec", "hidden"),
    [
        ("openai:m@http://10.0.0.5/v1", {"@http://10.0.0.5/v1", "10.0.0.5"}),
        ("openai:m@https://models.example:8443/v1", {"@https://models.example:8443/v1", "models.example:8443"}),
        ("openai:m@https://example.org/v1", {"@https://example.org/v1"}),
        ("openai:m@http://localhost:8080/v1", set()),
        ("openai:gpt-x", set()),
    ],
)
def test_a_host_that_may_be_that_of_pages_is_hidden_in_names_of_models_only(spec: str, hidden: set[str]) -> None:
    assert labels_of(Settings()).keys() == set()
    assert labels_of(Settings(default_provider=(spec,))).keys() == hidden
