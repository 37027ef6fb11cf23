"""The registry of document readers: every kind of file that is accepted can be read."""

from graph_research.text.readers import MEDIA_TYPES, PDF, READERS, SUFFIXES


def test_every_suffix_leads_to_a_reader() -> None:
    assert set(SUFFIXES) <= {*READERS, PDF}
    assert MEDIA_TYPES[".htm"] == "text/html"
    for media_type in set(MEDIA_TYPES.values()) - {PDF}:
        assert READERS[media_type]("One sentence.").text == "One sentence."
