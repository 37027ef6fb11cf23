"""What the writers of a report are shown."""

from graph_research.research.agents.writing.section_material import latest_limits, sources_of_section
from graph_research.research.models.source import Source


def test_limits_of_an_earlier_round_are_not_told_again() -> None:
    earlier = {"sub_query_id": "sq-1-1", "limits": ["The default is not stated."]}
    latest = [{"sub_query_id": f"sq-2-{n}", "limits": ["No figure was found."]} for n in (1, 2)]
    assert latest_limits([earlier, *latest]) == ["No figure was found."]
    assert latest_limits([earlier]) == ["The default is not stated."]
    assert latest_limits([]) == []


def test_the_sources_of_a_note_are_read_for_its_section_however_many_others_there_are() -> None:
    ids = [f"src-{n:010}" for n in range(60)]
    sources = {name: Source(id=name, archive_hash=f"sha256:{name}") for name in ids}
    quoted = {
        "id": "ev-0000000001",
        "source_id": ids[0],
        "quote": "q",
        "locator": "text:0-1",
        "archive_hash": sources[ids[0]].archive_hash,
    }
    notes = f"- The lock of a file is held by a writer [1]\n\n[1] {ids[-1]} Locks"
    handoff = {
        "section": {"id": "sec-1", "heading": "Locks", "answers": "Who holds the lock?", "finding_ids": ["f"]},
        "findings": [{"id": "f", "evidence_ids": [quoted["id"]]}],
        "evidence": [quoted],
        "topics": [{"sub_query_id": "sq-1-1", "source_ids": ids, "compressed_findings": notes}],
    }
    read = [source.id for source in sources_of_section(handoff, sources)]
    assert len(read) < len(ids)
    assert read[:2] == [ids[0], ids[-1]]
