"""Who may use the service: users by their tokens, of which a file has the hashes."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from graph_research.errors import NameInvalid, check_name, why_unreadable
from graph_research.jobs.job import LOCAL_USER
from graph_research.service.errors import TokenMissing, TokensUnusable

_MAY_READ_METRICS = "metrics"
_TOKEN_BYTES = 32


@dataclass(frozen=True, kw_only=True)
class User:
    """Somebody whose requests are served. `reads_metrics`: also the numbers of all users together."""

    name: str
    reads_metrics: bool = False


LOCAL = User(name=LOCAL_USER, reads_metrics=True)
"""Whoever uses a service without tokens, which only this machine reaches."""


@dataclass(frozen=True)
class _Entry:
    user: User
    digest: str


class Users:
    """The users of a tokens file, which is read again when it changes; without one everybody is `LOCAL`.

    A line is `USER:SHA256`, the hash in hexadecimal digits, or `USER:SHA256:metrics` for one who may read the metrics;
    a user may have several. Empty lines and those that begin with `#` are passed over.
    """

    def __init__(self, tokens_file: Path | None) -> None:
        self._file = tokens_file
        self._stamp: tuple[int, int, int] | None = None
        self._entries: Sequence[_Entry] = ()
        if tokens_file is not None:
            self._refresh(tokens_file)

    @property
    def need_tokens(self) -> bool:
        return self._file is not None

    def authenticate(self, token: str | None) -> User:
        """The user with this token. `TokenMissing`. Compares with every hash, each in constant time."""
        if self._file is None:
            return LOCAL
        self._refresh(self._file)
        digest = digest_of(token or "")
        matching = [entry.user for entry in self._entries if hmac.compare_digest(entry.digest, digest)]
        if not matching:
            raise TokenMissing(
                "the token is missing or not valid", help="send the header `Authorization: Bearer TOKEN`"
            )
        return matching[0]

    def _refresh(self, file: Path) -> None:
        try:
            status = file.stat()
            stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
            if stamp != self._stamp:
                self._entries = _entries(file)
                self._stamp = stamp
        except (OSError, UnicodeDecodeError) as error:
            raise TokensUnusable(f"the tokens file {file} cannot be read: {why_unreadable(error)}") from error


def digest_of(token: str) -> str:
    """The hash of a token as the file has it."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def add_token(file: Path, name: str, *, reads_metrics: bool = False) -> str:
    """Add a token of a user to a file, which is made readable by its owner alone, and return it: it is stored nowhere.
    `NameInvalid`, `TokensUnusable`."""
    check_name(name, "user name")
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    line = ":".join([name, digest_of(token), *([_MAY_READ_METRICS] if reads_metrics else [])])
    try:
        file.touch(mode=0o600)
        with file.open("a", encoding="utf-8") as lines:
            lines.write(f"{line}\n")
    except OSError as error:
        raise TokensUnusable(f"the tokens file {file} cannot be written: {why_unreadable(error)}") from error
    return token


def _entries(file: Path) -> list[_Entry]:
    entries = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        name, _, rest = line.strip().partition(":")
        digest, *more = rest.split(":")
        try:
            check_name(name, "user name")
        except NameInvalid as error:
            raise TokensUnusable(error.message, help=error.help, file=str(file), line=number) from error
        is_digest = len(digest) == 64 and set(digest) <= set("0123456789abcdef")
        if not is_digest or more not in ([], [_MAY_READ_METRICS]):
            raise TokensUnusable(
                "this is not a line of a tokens file",
                help="`graph-research token USER` writes them: USER:SHA256",
                file=str(file),
                line=number,
            )
        entries.append(_Entry(User(name=name, reads_metrics=bool(more)), digest))
    if not entries:
        raise TokensUnusable(f"the tokens file {file} has no token", help="`graph-research token USER` adds one")
    return entries
