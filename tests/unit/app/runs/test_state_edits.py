"""Edits of a stored state by `PATH=JSON` texts."""

import pytest

from graph_research.app.runs.state_edits import at_path, edited, keys_of, values_of
from graph_research.graph.errors import InputInvalid

STATE = {"mills": [{"id": "weir", "heights": [2, 3]}], "n": 1}


@pytest.mark.parametrize("path", ["mills.0.heights.1", "mills.weir.heights.1", "mills[0].heights[1]"])
def test_a_path_names_an_entry_by_its_place_in_either_form_or_by_its_id(path: str) -> None:
    assert at_path(STATE, keys_of(path)) == 3
    assert edited(STATE, [f"{path}=5"]) == {"mills": [{"id": "weir", "heights": [2, 5]}]}
    assert STATE["mills"] == [{"id": "weir", "heights": [2, 3]}]


def test_a_path_that_leads_nowhere_is_refused_with_what_there_is() -> None:
    wide = {f"channel_{number}": number for number in range(14)}
    for state, path, help in [
        (STATE, "mills[3].id", "it is a list of 1; name a place from 0 or an id"),
        (STATE, "dams", "it has mills, n"),
        (wide, "dams", ", channel_11 and 2 more"),
    ]:
        with pytest.raises(InputInvalid) as refused:
            at_path(state, keys_of(path))
        assert refused.value.help.endswith(help)


def test_inputs_are_set_by_dotted_paths() -> None:
    assert values_of(["options.words=300", "n=2"]) == {"options": {"words": 300}, "n": 2}
