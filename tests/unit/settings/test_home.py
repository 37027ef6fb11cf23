"""The data home: what it keeps of a crash."""

from pathlib import Path

from graph_research.settings.home import CRASH_NOTE, Home


def test_a_crash_leaves_a_marker_that_a_note_names(tmp_path: Path) -> None:
    home = Home(tmp_path).prepare()
    error = ValueError("boom")

    home.write_crash("r", error)

    assert error.__notes__ == [f"{CRASH_NOTE}{home.crash_file('r')}"]
    assert "ValueError: boom" in home.crash_file("r").read_text()


def test_a_crash_where_no_marker_can_be_written_keeps_its_own_error(tmp_path: Path) -> None:
    error = ValueError("boom")

    Home(tmp_path / "gone").write_crash("r", error)

    assert not hasattr(error, "__notes__")
