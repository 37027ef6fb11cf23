"""Users, their tokens, and the file that has the hashes."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from graph_research.errors import NameInvalid
from graph_research.service.errors import TokenMissing, TokensUnusable
from graph_research.service.users import LOCAL, Users, add_token, digest_of


def test_a_token_belongs_to_its_user(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    ada, bert, other = (add_token(file, name) for name in ("ada", "bert", "ada"))
    users = Users(file)
    assert [users.authenticate(token).name for token in (ada, bert, other)] == ["ada", "bert", "ada"]
    for wrong in (None, "", "x", ada[:-1], digest_of(ada)):
        with pytest.raises(TokenMissing):
            users.authenticate(wrong)


def test_the_file_has_hashes_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    token = add_token(file, "ada")
    assert token not in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_running_service_knows_a_new_token_and_forgets_a_deleted_one(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    ada = add_token(file, "ada")
    users = Users(file)
    bert = add_token(file, "bert")
    assert users.authenticate(bert).name == "bert"
    file.write_text("".join(file.read_text().splitlines(keepends=True)[1:]))
    with pytest.raises(TokenMissing):
        users.authenticate(ada)


def test_the_metrics_are_for_those_who_may_read_them(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    ada, watcher = add_token(file, "ada"), add_token(file, "watcher", reads_metrics=True)
    users = Users(file)
    assert [users.authenticate(token).reads_metrics for token in (ada, watcher)] == [False, True]


def test_without_a_file_everybody_is_the_local_user() -> None:
    assert Users(None).authenticate(None) == LOCAL


@pytest.mark.parametrize(
    "line",
    ["ada", "ada:", "ada:xyz", f"ada:{'a' * 63}", f"ada:{'a' * 64}:admin", f"../ada:{'a' * 64}", f"ada:{'A' * 64}"],
)
def test_a_line_that_is_not_understood_is_refused_with_its_place(tmp_path: Path, line: str) -> None:
    file = tmp_path / "tokens"
    file.write_text(f"# users\n\n{line}\n")
    with pytest.raises(TokensUnusable) as caught:
        Users(file)
    assert (caught.value.file, caught.value.line) == (str(file), 3)


def test_a_missing_or_empty_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    with pytest.raises(TokensUnusable):
        Users(file)
    file.write_text("# nobody yet\n")
    with pytest.raises(TokensUnusable):
        Users(file)


def test_a_name_that_is_no_id_gets_no_token(tmp_path: Path) -> None:
    with pytest.raises(NameInvalid):
        add_token(tmp_path / "tokens", "../ada")
    assert not (tmp_path / "tokens").exists()
