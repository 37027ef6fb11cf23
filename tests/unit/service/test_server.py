"""The service as its process starts: the socket that it listens at, and the folders that it shares."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from graph_research.app.graphs.catalog import UnknownGraph
from graph_research.app.library import LibraryMissing
from graph_research.app.workspace import Workspace, open_workspace
from graph_research.errors import UserMistake
from graph_research.service.errors import AddressUnusable, FoldersAlike
from graph_research.service.libraries import check_shared_folders, libraries
from graph_research.service.server import Service, listen
from graph_research.service.users import Users
from tests.support.cli.cli_process import User


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_answers_are_sent_without_delay(host: str) -> None:
    """An event loop switches Nagle's delay of 40 ms off for sockets that say that they speak TCP."""
    with listen(host, 0) as listening:
        address = listening.getsockname()
        with socket.create_connection(address[:2], timeout=5), listening.accept()[0] as accepted:
            assert accepted.proto == socket.IPPROTO_TCP


def test_an_address_that_is_taken_is_said() -> None:
    with listen("127.0.0.1", 0) as listening, pytest.raises(AddressUnusable, match="cannot listen at 127"):
        listen("127.0.0.1", listening.getsockname()[1])


def sharing(user: User, *folders: str, **options: object) -> Workspace:
    given = {"library": folders, **options}
    return open_workspace(user.environment(), user.folder, may_use=lambda _: None, options=given)


@pytest.mark.parametrize(
    ("folders", "error"),
    [
        (("library", "nowhere"), LibraryMissing),
        (("a/papers", "b/papers"), FoldersAlike),
        (("library", "c/uploads"), FoldersAlike),
    ],
)
def test_it_does_not_start_with_folders_that_users_could_not_search(
    user: User, folders: tuple[str, ...], error: type[UserMistake]
) -> None:
    for folder in ("a/papers", "b/papers", "c/uploads"):
        (user.folder / folder).mkdir(parents=True)
    with pytest.raises(error):
        Service(sharing(user, *folders), Users(None), host="127.0.0.1", port=0)


def test_it_does_not_start_with_a_graph_that_is_not_there(user: User) -> None:
    with pytest.raises(UnknownGraph, match="deep_reserch") as raised:
        Service(sharing(user, service_graphs=["pipeline", "deep_reserch"]), Users(None), host="127.0.0.1", port=0)
    assert "deep_research" in raised.value.help


def test_a_folder_that_is_shared_twice_is_shared_once(user: User) -> None:
    check_shared_folders(sharing(user, "library", "library/", "../" + user.folder.name + "/library"))


def test_a_shared_folder_has_the_name_of_the_link_that_leads_to_it(user: User) -> None:
    for folder in ("a/papers", "b/papers"):
        (user.folder / folder).mkdir(parents=True)
    (user.folder / "others").symlink_to("b/papers")
    known = libraries(sharing(user, "a/papers", "others", "."), "ada")
    assert known["papers"] == user.folder / "a/papers"
    assert known["others"] == user.folder / "b/papers"
    assert known[user.folder.name] == Path(user.folder)
