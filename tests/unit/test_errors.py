"""Errors: each kind has a code for programs."""

from __future__ import annotations

from graph_research.errors import GraphResearchError, NameInvalid, UserMistake
from graph_research.graph.errors import GraphInvalid
from graph_research.providers.llm.error_mapping import ConstraintFailed


def test_the_code_of_an_error_is_the_name_of_its_class_unless_the_class_sets_one() -> None:
    assert [kind.code for kind in (GraphResearchError, UserMistake)] == ["error", "invalid"]
    assert [kind.code for kind in (NameInvalid, GraphInvalid)] == ["name-invalid", "graph-invalid"]
    assert ConstraintFailed.code == "provider-refused"
