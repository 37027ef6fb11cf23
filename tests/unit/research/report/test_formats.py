"""The registry of report formats: one entry makes a format known to the store, the command line and `capabilities`."""

import subprocess
import sys

import pytest

from graph_research.cli.display.output import show_document
from graph_research.research.report.build import build_report
from graph_research.research.report.formats import REPORT_FORMATS, ProvedReport
from graph_research.research.report.run_metadata import RunFacts
from tests.support.cli.cli_process import User

REPORT = build_report({}, texts={}, run=RunFacts(run_id="run-1", question="Why?"))


@pytest.mark.parametrize("name", REPORT_FORMATS)
def test_every_format_renders_bytes_and_a_text_format_utf8(name: str) -> None:
    content = REPORT_FORMATS[name].render(ProvedReport(report=REPORT, texts={}, layouts={}))
    assert isinstance(content, bytes)
    assert not REPORT_FORMATS[name].is_text or isinstance(content.decode(), str)
    assert REPORT_FORMATS[name].suffix.startswith(".")
    assert "/" in REPORT_FORMATS[name].media_type


def test_the_graph_is_drawn_only_for_the_format_that_shows_it() -> None:
    drawn: list[str] = []

    def draw() -> str:
        drawn.append("svg")
        return ""

    for format in REPORT_FORMATS.values():
        format.render(ProvedReport(report=REPORT, texts={}, layouts={}, graph_svg=draw))
    assert drawn == ["svg"]


def test_the_names_of_formats_load_no_renderer() -> None:
    code = (
        "import sys, graph_research.research.report.formats as formats; assert formats.REPORT_FORMATS\n"
        "assert not {'jinja2', 'graph_research.research.report.model'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_capabilities_name_all_formats(user: User) -> None:
    assert user.run("capabilities", "--json").json["report_formats"] == list(REPORT_FORMATS)


def test_a_binary_format_goes_to_a_pipe_to_the_byte(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    show_document(b"PK\x03\x04\xff")
    assert capfdbinary.readouterr().out == b"PK\x03\x04\xff"
