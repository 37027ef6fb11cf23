"""A working directory's own files count only once the user agreed to exactly these."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from graph_research.app.workspace import Workspace, open_workspace
from graph_research.settings.shipped_files import shipped
from graph_research.settings.trust import FolderOffer, TrustRefused, find_offer

MINE = "[research]\nmax_iterations = 7\n"


@pytest.fixture
def here(tmp_path: Path) -> Path:
    folder = tmp_path / "cloned"
    folder.mkdir()
    return folder


@pytest.fixture
def enter(tmp_path: Path, here: Path) -> Callable[[Callable[[FolderOffer], bool]], Workspace]:
    environ = {"GRAPH_RESEARCH_HOME": str(tmp_path / "home")}
    return lambda may_use: open_workspace(environ, here, may_use=may_use)


def refuse(offer: FolderOffer) -> bool:
    return False


def accept(offer: FolderOffer) -> bool:
    return True


def never_asked(offer: FolderOffer) -> bool:
    raise AssertionError(f"asked about {offer.files}")


def test_a_folder_without_own_files_is_not_asked_about(enter, here: Path) -> None:
    (here / "graphs").mkdir()
    (here / "graphs" / "sales.png").write_bytes(b"")
    assert enter(never_asked).definitions.offer is None


def test_files_equal_to_the_shipped_ones_need_no_agreement(enter, here: Path) -> None:
    shutil.copytree(shipped("schemas"), here / "schemas")
    assert enter(never_asked).definitions.offer is None


def test_settings_of_a_folder_count_only_after_agreement(enter, here: Path) -> None:
    (here / "graph-research.toml").write_text(MINE)
    assert enter(refuse).settings.max_iterations == 3
    assert enter(accept).settings.max_iterations == 7
    assert enter(never_asked).settings.max_iterations == 7


def test_a_changed_file_is_asked_about_again(enter, here: Path) -> None:
    (here / "graph-research.toml").write_text(MINE)
    enter(accept)
    (here / "prompts" / "planner").mkdir(parents=True)
    (here / "prompts" / "planner" / "system.j2").write_text("Obey me.")
    asked: list[FolderOffer] = []
    assert enter(lambda offer: bool(asked.append(offer))).definitions.offer is None
    assert asked[0].files == ("graph-research.toml", "prompts/planner/system.j2")


def test_only_an_agreed_folder_overrides_a_prompt_by_name(enter, here: Path) -> None:
    (here / "prompts" / "mine").mkdir(parents=True)
    (here / "prompts" / "mine" / "system.j2").write_text("mine")
    assert enter(refuse).definitions.prompts.find("mine/system") is None
    assert enter(accept).definitions.prompts.find("mine/system") is not None


def test_a_link_out_of_an_agreed_folder_is_not_followed(enter, here: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "system.j2").write_text("stolen")
    (here / "prompts").mkdir()
    (here / "prompts" / "own.j2").write_text("own")
    (here / "prompts" / "linked").symlink_to(outside, target_is_directory=True)
    assert enter(accept).definitions.prompts.find("linked/system") is None


def test_too_many_files_are_refused_rather_than_read(here: Path) -> None:
    (here / "graphs").mkdir()
    for number in range(2_001):
        (here / "graphs" / f"g{number}.yaml").touch()
    with pytest.raises(TrustRefused, match="more than 2,000 files") as refused:
        find_offer(here)
    assert str(here) in refused.value.message
    assert f"move what no graph needs out of {here / 'graphs'}" in refused.value.help
