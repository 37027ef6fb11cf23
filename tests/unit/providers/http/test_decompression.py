"""Bodies come out as they went in, however they are cut into pieces, and never longer than was asked for."""

import gzip
import itertools
import random
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_research.providers.http.decompression import Body, BodyBroken, BodyTooLong

PACKERS = {
    "": bytes,
    "identity": bytes,
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    " DEFLATE": lambda data: zlib.compress(data, wbits=-15),
}


@given(
    data=st.binary(max_size=5000),
    encoding=st.sampled_from(sorted(PACKERS)),
    cuts=st.lists(st.integers(0, 6000), max_size=8),
)
def test_a_body_is_the_same_however_it_arrives(data: bytes, encoding: str, cuts: list[int]) -> None:
    packed = PACKERS[encoding](data)
    places = [0, *sorted(min(cut, len(packed)) for cut in cuts), len(packed)]
    body = Body(encoding=encoding, most_bytes=20_000)
    arrived = b"".join(body.feed(packed[start:end]) for start, end in itertools.pairwise(places))
    body.end()
    assert arrived == data


@given(data=st.binary(min_size=1, max_size=2000), most=st.integers(0, 1999), encoding=st.sampled_from(["", "deflate"]))
def test_no_more_than_the_limit_comes_out(data: bytes, most: int, encoding: str) -> None:
    body = Body(encoding=encoding, most_bytes=most)
    packed = PACKERS[encoding](data)
    if len(data) <= most and len(packed) <= most:
        assert body.feed(packed) == data
    else:
        with pytest.raises(BodyTooLong, match=f"longer than {most:,} bytes"):
            body.feed(packed)


def test_a_bomb_is_unpacked_no_further_than_the_limit() -> None:
    bomb = zlib.compress(bytes(100_000_000), 9)
    with pytest.raises(BodyTooLong):
        Body(encoding="deflate", most_bytes=1_000_000).feed(bomb)


def test_what_is_cut_short_or_not_what_it_says_is_broken() -> None:
    packed = gzip.compress(random.Random(7).randbytes(1000))
    cut = Body(encoding="gzip", most_bytes=20_000)
    cut.feed(packed[:-4])
    with pytest.raises(BodyBroken, match="ends too early"):
        cut.end()
    with pytest.raises(BodyBroken, match="not compressed"):
        Body(encoding="gzip", most_bytes=20_000).feed(b"plain words")
    with pytest.raises(BodyBroken, match="'br'"):
        Body(encoding="br", most_bytes=20_000)
