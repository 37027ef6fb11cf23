"""What the writers of a report are shown."""

from graph_research.research.agents.writing.section_material import latest_limits


def test_limits_of_an_earlier_round_are_not_told_again() -> None:
    earlier = {"sub_query_id": "sq-1-1", "limits": ["The default is not stated."]}
    latest = [{"sub_query_id": f"sq-2-{n}", "limits": ["No figure was found."]} for n in (1, 2)]
    assert latest_limits([earlier, *latest]) == ["No figure was found."]
    assert latest_limits([earlier]) == ["The default is not stated."]
    assert latest_limits([]) == []
