"""Names find their texts in the shipped and the user's folders, and never outside of them."""

from pathlib import Path

import pytest

from graph_research.app.definitions import schema_resolver
from graph_research.graph.resources import FolderResolver, ResourceUnreadable
from graph_research.settings.shipped_files import shipped


def test_a_users_folder_overrides_the_shipped_one_by_name(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    for folder, text in ((first, "one"), (second, "two")):
        folder.mkdir()
        (folder / "plan.yaml").write_text(text)
    found = FolderResolver(first, second, suffix=".yaml").find("plan")
    assert found is not None
    assert found[0] == "two"


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "a/../../secret", "..", "", "a//b", "A", ".hidden"])
def test_a_name_never_leaves_its_folder(tmp_path: Path, name: str) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "secret.yaml").write_text("x")
    assert FolderResolver(inside, suffix=".yaml").find(name) is None


def test_a_schema_goes_by_its_bare_name_whatever_folder_it_stands_in(tmp_path: Path) -> None:
    (tmp_path / "handoffs").mkdir()
    (tmp_path / "handoffs" / "mine.input.json").write_text("{}")
    (tmp_path / "mine_state.json").write_text("{}")
    schemas = schema_resolver(tmp_path)
    assert schemas.find("mine.input") is not None
    assert {"mine.input", "mine_state"} <= set(schemas.names())
    assert not [name for name in schemas.names() if "/" in name]


def test_the_shipped_folders_exist() -> None:
    assert shipped("schemas").is_dir()
    assert shipped("graphs").is_dir()
    assert shipped("prompts").is_dir()


def test_a_binary_file_is_refused_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ResourceUnreadable, match="not UTF-8"):
        FolderResolver(tmp_path, suffix=".yaml").find("plan")
