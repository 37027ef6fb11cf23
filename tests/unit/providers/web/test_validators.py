"""Validators of a page: what a server said by which it knows a version again."""

from __future__ import annotations

from graph_research.providers.web.fetcher import Validators


def test_validators_come_from_headers_and_go_back_as_conditions() -> None:
    known = Validators.of({"etag": 'W/"v1"', "last-modified": "Mon, 02 Jan 2023 10:00:00 GMT"})
    assert Validators.of(known.to_json()) == known
    assert known.conditions() == [
        ("If-None-Match", 'W/"v1"'),
        ("If-Modified-Since", "Mon, 02 Jan 2023 10:00:00 GMT"),
    ]


def test_what_could_not_be_a_header_is_left_out() -> None:
    assert Validators.of({"etag": "x\r\nCookie: a=b", "last-modified": "é" * 3}) == Validators()
    assert Validators.of({"etag": "x" * 201}).conditions() == []
