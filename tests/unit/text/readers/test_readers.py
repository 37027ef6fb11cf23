"""The registry of document readers: every kind of file that is accepted can be read."""

import pytest

from graph_research.text.readers import FORMATS, MEDIA_TYPES, READERS, media_type_of, media_type_of_file


def test_every_suffix_leads_to_a_reader() -> None:
    assert set(READERS) <= set(FORMATS)
    assert MEDIA_TYPES[".htm"] == "text/html"
    for media_type in set(READERS) - {"application/x-ipynb+json"}:
        assert READERS[media_type]("One sentence.").text == "One sentence."


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("notes.MD", "text/markdown"),
        ("manual.html.gz", "application/gzip"),
        ("program.gz", None),
        ("nested.zip.gz", None),
        ("manual.html.ja.euc-jp", "text/html"),
        ("manual.html.pl", "text/html"),
        ("manual.pl", "text/x-source"),
        ("notes.de", None),
        ("picture.png", None),
        ("README", None),
    ],
)
def test_a_file_is_known_by_its_name(name: str, media_type: str | None) -> None:
    assert media_type_of(name) == media_type


@pytest.mark.parametrize(
    ("name", "head", "media_type"),
    [
        ("README", b"The lagoon is read from the north.\n", "text/plain"),
        ("Makefile", "all:\n\techo Schlüssel\n".encode("latin-1"), "text/plain"),
        ("NEWS", "\ufeffNews".encode("utf-16-le"), "text/plain"),
        ("manual", b"%PDF-1.7\n\0", "application/pdf"),
        ("program", b"\x7fELF\2\1\1", None),
        ("archive", b"PK\3\4", None),
        ("picture.png", b"The name tells its type.", None),
        ("README.Debian", b"The gauge\n---------\n\nSee /usr/share/gauge/1.2 for more.\n", "text/plain"),
        ("NEWS.lagune", "Die Schleuse öffnet früher.\nDie Schl".encode() + b"\xc3", "text/plain"),
        ("gauge.key", b"-----BEGIN KEY-----\nMIGHAgEAMBMG\nByqGSM49AgEG\nCCqGSM49AwEHBG0w\n", None),
        ("policy.md.bak", b"A copy of what is read itself.", None),
        ("notes.md", b"\0", "text/markdown"),
    ],
)
def test_a_file_whose_name_does_not_tell_is_known_by_its_content(
    name: str, head: bytes, media_type: str | None
) -> None:
    assert media_type_of_file(name, head) == media_type
