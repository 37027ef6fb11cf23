"""Queries, identifiers, addresses and XML as the searches read and write them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_research.providers.search.support.doi import normal_doi
from graph_research.providers.search.support.hit import web_address, words_of
from graph_research.providers.search.support.json_fields import count, line, lines, number
from graph_research.providers.search.support.query_text import keywords, shortened
from graph_research.providers.search.support.xml import XmlRefused, read_xml, text_at


@pytest.mark.parametrize(
    ("written", "doi"),
    [
        ("10.1000/ABC", "10.1000/abc"),
        ("https://doi.org/10.1000/ABC", "10.1000/abc"),
        ("http://dx.doi.org/10.1000.10/x(1)2", "10.1000.10/x(1)2"),
        ("doi: 10.1000/abc", "10.1000/abc"),
        ("10.1/abc", None),
        ("https://example.org/10.1000/abc", None),
        ("10.1000/a b", None),
        (17, None),
    ],
)
def test_a_doi_is_the_same_whoever_wrote_it(written: object, doi: str | None) -> None:
    assert normal_doi(written) == doi


@pytest.mark.parametrize(
    ("address", "usable"),
    [
        ("https://a.example/x?y=1#z", True),
        (" http://a.example ", True),
        ("ftp://a.example/", False),
        ("javascript:alert(1)", False),
        ("https://me:secret@a.example/", False),
        ("https:///x", False),
        ("https://a.example/ x", False),
        ("https://a.example:99999/", False),
        ("https://[::1/", False),
        ("https://a.example/\u202e", False),
        ("//a.example/", False),
        (None, False),
    ],
)
def test_only_addresses_of_the_web_are_taken(address: object, usable: bool) -> None:
    assert (web_address(address) is not None) is usable


def test_markup_of_a_title_is_taken_out_and_signs_stay() -> None:
    assert words_of("A <i>new</i> &amp; <b>old</b> story") == "A new & old story"
    assert words_of("p < 0.05 for x > 3") == "p < 0.05 for x > 3"


def test_keywords_are_what_carries_a_question() -> None:
    assert keywords("What do C++ and GPT-4 (2023) do to F1-scores?", most_words=9, most_chars=99) == [
        "c++",
        "gpt-4",
        "2023",
        "f1-scores",
    ]
    assert keywords("to be or not to be", most_words=9, most_chars=99) == ["to", "be", "or", "not"]
    assert keywords("?!", most_words=9, most_chars=99) == []


@given(st.text(), st.integers(1, 60))
@settings(deadline=None)
def test_keywords_and_shortened_queries_keep_to_their_length(query: str, most: int) -> None:
    assert len(" ".join(keywords(query, most_words=5, most_chars=most))) <= most
    assert len(shortened(query, most)) <= most


def test_a_query_is_cut_between_words() -> None:
    assert shortened("salmon smolts pass", 13) == "salmon smolts"
    assert shortened("salmon  smolts\npass", 12) == "salmon"
    assert shortened("x" * 9, 4) == "xxxx"


def test_what_is_not_of_its_kind_counts_as_not_there() -> None:
    assert (line(3), line(" a\n b\x00 "), lines(["a", 1, ""]), lines("a")) == ("", "a b", ["a"], ["a"])
    assert (number("1.5"), number(True), number("nan"), number("x"), number(10**400)) == (1.5, None, None, None, None)
    assert (count(3), count("7"), count(-1), count(1e300)) == (3, 7, None, None)


BILLION_LAUGHS = b"""<!DOCTYPE a [<!ENTITY l "lol"><!ENTITY m "&l;&l;&l;&l;&l;&l;&l;&l;">]><a>&m;</a>"""
OUTSIDE = b"""<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>"""
PARAMETER = b"""<!DOCTYPE a [<!ENTITY % x SYSTEM "http://127.0.0.1/x.dtd"> %x;]><a/>"""


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (BILLION_LAUGHS, "declares the entity"),
        (OUTSIDE, "declares the entity"),
        (PARAMETER, "declares the entity"),
        (b"<a>" * 200 + b"</a>" * 200, "nested deeper"),
        (b"<a>" + b"<b/>" * 400_001 + b"</a>", "elements"),
        (b"<a><b></a>", "not valid XML"),
        (b"", "not valid XML"),
        (b"\xff\xfe", "not valid XML"),
        (b"<?xml version='1.0' encoding='klingon'?><a/>", "not valid XML"),
        (b" " * 20_000_001, "bytes"),
    ],
)
def test_xml_that_would_do_harm_is_refused(source: bytes, why: str) -> None:
    with pytest.raises(XmlRefused, match=why):
        read_xml(source)


def test_a_document_type_from_elsewhere_is_not_fetched() -> None:
    root = read_xml(b'<!DOCTYPE a PUBLIC "-//X//Y" "http://127.0.0.1:1/y.dtd"><a>1&nbsp;2<b c="d">3</b>4</a>')
    assert text_at(root) == "1234"


def test_a_tree_is_read_without_its_namespaces() -> None:
    root = read_xml(b'<x:a xmlns:x="urn:x" xmlns="urn:y" x:k="v"><b><c>1</c></b><b><c>2</c><d><c>3</c></d></b></x:a>')
    assert (root.tag, root.attrib) == ("a", {"k": "v"})
    assert text_at(root, "b/c") == "1"
    assert [text_at(one) for one in root.iter("c")] == ["1", "2", "3"]
    assert text_at(root, "missing") == ""
