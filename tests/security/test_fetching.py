"""What a hostile page, name server or redirect could reach through us: public hosts and nothing else."""

from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_research.providers.errors import FetchRefused
from graph_research.providers.web.fetcher import Fetcher
from graph_research.providers.web.url_guard import AddressInvalid, OwnHosts, read_address, why_private
from tests.support.network.fetch_network import NO_RULES, PAGE, PUBLIC, Names, Web, Wires
from tests.support.network.http_server import Answer, WireServer

FORBIDDEN_ADDRESSES = {
    "0.0.0.0": "this network",
    "0.1.2.3": "this network",
    "10.0.0.1": "private",
    "10.255.255.255": "private",
    "100.64.0.1": "carrier",
    "100.100.100.200": "carrier",
    "100.127.255.255": "carrier",
    "127.0.0.1": "this machine",
    "127.1.2.3": "this machine",
    "127.255.255.255": "this machine",
    "168.63.129.16": "metadata",
    "169.254.0.1": "link-local",
    "169.254.169.254": "link-local",
    "169.254.170.2": "link-local",
    "172.16.0.1": "private",
    "172.31.255.255": "private",
    "192.0.0.1": "reserved",
    "192.0.0.192": "reserved",
    "192.0.2.1": "documentation",
    "192.88.99.1": "relay",
    "192.168.0.1": "private",
    "192.168.255.255": "private",
    "198.18.0.1": "benchmarks",
    "198.19.255.255": "benchmarks",
    "198.51.100.7": "documentation",
    "203.0.113.7": "documentation",
    "224.0.0.1": "multicast",
    "239.255.255.250": "multicast",
    "240.0.0.1": "reserved",
    "255.255.255.255": "reserved",
    "::": "unspecified",
    "::1": "this machine",
    "::7f00:1": "disguise",
    "::ffff:127.0.0.1": "disguise",
    "::ffff:a9fe:a9fe": "disguise",
    "::ffff:93.184.216.34": "disguise",
    "::ffff:0:10.0.0.1": "disguise",
    "64:ff9b::7f00:1": "NAT64",
    "64:ff9b::10.0.0.1": "NAT64",
    "64:ff9b:1::7f00:1": "NAT64",
    "64:ff9b:1:ffff::169.254.169.254": "NAT64",
    "100::1": "reserved",
    "2001::1": "Teredo",
    "2001:0:7f00:1::": "Teredo",
    "2001:10::1": "reserved",
    "2001:20::1": "reserved",
    "2001:db8::1": "documentation",
    "2002:7f00:1::": "6to4",
    "2002:a9fe:a9fe::1": "6to4",
    "3fff::1": "documentation",
    "4000::1": "reserved",
    "5f00::1": "reserved",
    "fc00::1": "private",
    "fd00::1": "private",
    "fd00:ec2::254": "metadata",
    "fe80::1": "link-local",
    "fe80::1%eth0": "link-local",
    "febf::1": "link-local",
    "fec0::1": "site-local",
    "ff02::1": "multicast",
    "ff0e::1": "multicast",
}

PUBLIC_ADDRESSES = [
    "1.1.1.1",
    "9.255.255.255",
    "11.0.0.1",
    "93.184.216.34",
    "100.63.255.255",
    "100.128.0.1",
    "126.255.255.255",
    "128.0.0.1",
    "169.253.255.255",
    "169.255.0.1",
    "172.15.255.255",
    "172.32.0.1",
    "192.0.1.1",
    "192.167.255.255",
    "192.169.0.1",
    "198.17.255.255",
    "198.20.0.1",
    "223.255.255.255",
    "2003::1",
    "2606:2800:220:1::1",
    "2a00:1450:4001::1",
]

FORBIDDEN_URLS = [
    "http://localhost/",
    "http://LOCALHOST./",
    "http://app.localhost/",
    "http://printer.local/",
    "http://metadata.google.internal/computeMetadata/v1/",
    "http://wiki.corp/",
    "http://nas.home.arpa/",
    "http://intranet/",
    "http://2130706433/",
    "http://017700000001/",
    "http://0x7f000001/",
    "http://0x7F.1/",
    "http://127.1/",
    "http://127.0.1/",
    "http://0177.0.0.1/",
    "http://127.0.0.1./",
    "http://0/",
    "http://0xa9fea9fe/",
    "http://2852039166/",
    "http://169.254.43518/",
    "http://0251.0376.0251.0376/",
    "http://１２７.０.０.１/",
    "http://127。0。0。1/",
    "http://①②⑦.0.0.1/",
    "http://ⓛocalhost/",
    "http://[::1]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::127.0.0.1]/",
    "http://[fe80::1%25eth0]/",
    "http://256.1.1.1/",
    "http://1.2.3.4.5/",
    "http://1.2.3.08/",
    "http://4294967296/",
    "http://user@example.org/",
    "http://user:pass@example.org/",
    "http://example.org@127.0.0.1/",
    "http://example.org\\@127.0.0.1/",
    "http://127.0.0.1\\.example.org/",
    "http://exa mple.org/",
    "http://example.org:22/",
    "http://example.org:8080/",
    "http://example.org:0/",
    "http://example.org:99999/",
    "http://example.org:80a/",
    "http://example%2eorg/",
    "http://example.org\t/",
    "http://example.org/\r\nHost: internal",
    "http://example.org/\0",
    "http://exam\u200bple.org/",
    "http:///path",
    "http://",
    "http:example.org",
    "//example.org/",
    "example.org",
    "",
    "file:///etc/passwd",
    "ftp://example.org/",
    "gopher://example.org/",
    "data:text/html,hello",
    "javascript:alert(1)",
    "http+unix://%2Fvar%2Frun%2Fdocker.sock/",
    "http://[::1/",
    "http://[example.org]/",
    "http://-example.org/",
    "http://exa..mple.org/",
    "http://" + "a" * 64 + ".org/",
    "http://" + "a." * 130 + "org/",
    "http://example.org/" + "a" * 4000,
]


@pytest.mark.requirement("23.1")
@pytest.mark.parametrize(("address", "what"), FORBIDDEN_ADDRESSES.items())
async def test_no_private_address_is_fetched_from_whatever_leads_there(
    server: WireServer, address: str, what: str
) -> None:
    assert what in (why_private(address) or "")
    host = f"[{address}]" if ":" in address else address
    named = Web(server)
    assert "is not fetched" in (await named.refusal(f"http://{host}/")).message
    resolved = Web(server, Names({"example.org": [[address]]}))
    assert what in (await resolved.refusal("http://example.org/")).message
    mixed = Web(server, Names({"example.org": [[PUBLIC, address]]}))
    assert f"leads to {address}" in (await mixed.refusal("https://example.org/")).message
    redirected = Web(server.on("/", Answer(status=302, headers={"location": f"http://{host}/secret"})))
    assert "is not followed" in (await redirected.refusal("http://example.org/")).message
    later = Web(server, Names({"example.org": [[PUBLIC]], "next.example.org": [[address]]}))
    server.on("/", Answer(status=302, headers={"location": "http://next.example.org/secret"}))
    assert what in (await later.refusal("http://example.org/")).message
    assert named.wires.asked == resolved.wires.asked == mixed.wires.asked == []
    assert {host for host, _ in redirected.wires.asked + later.wires.asked} == {PUBLIC}
    assert not server.at("/secret")


@pytest.mark.parametrize("address", PUBLIC_ADDRESSES)
async def test_public_addresses_next_to_private_ones_are_fetched_from(server: WireServer, address: str) -> None:
    web = Web(server.on("/", PAGE), Names({"example.org": [[address]]}))
    assert (await web.fetch("http://example.org/")).fetched_from == address
    assert web.wires.asked == [(address, 80)]


@pytest.mark.parametrize("url", FORBIDDEN_URLS)
async def test_no_url_that_names_something_else_is_fetched(server: WireServer, url: str) -> None:
    web = Web(server)
    error = await web.refusal(url)
    assert "is not fetched: " in error.message
    assert error.message.isprintable()
    assert (web.names.asked, web.wires.asked, server.received) == ([], [], [])


@pytest.mark.parametrize(
    "location",
    [
        "http://localhost/secret",
        "http://127.0.0.1:80/secret",
        "//169.254.169.254/latest/meta-data/",
        "http://0x7f.1/secret",
        "http://[::1]/secret",
        "http://[fd00:ec2::254]/latest/",
        "http://user:pass@example.org/",
        "http://example.org:6379/",
        "file:///etc/passwd",
        "ftp://example.org/",
        "gopher://example.org/",
        "javascript:alert(1)",
        "http://[",
        "http://metadata.google.internal/",
        "https:///secret",
    ],
)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_no_redirect_leads_somewhere_else(server: WireServer, location: str, status: int) -> None:
    web = Web(server.on("/", Answer(status=status, headers={"location": location})))
    assert "which is not followed" in (await web.refusal("http://example.org/")).message
    assert web.paths() == ["/"]


async def test_a_page_from_https_is_not_followed_to_http() -> None:
    with WireServer(tls=True, names=("example.org",)) as server:
        server.on("/", Answer(status=301, headers={"location": "http://example.org/plain"}))
        web = Web(server, trust=server.trust)
        assert "which is not encrypted" in (await web.refusal("https://example.org/")).message
        assert web.paths() == ["/"]


async def test_redirects_are_followed_five_times_and_no_more(server: WireServer) -> None:
    for number in range(9):
        server.on(f"/{number}", Answer(status=302, headers={"location": f"{number + 1}?from=ü b"}))
    server.on("/5", PAGE)
    found = await Web(server).fetch("http://example.org/0")
    assert found.final_url == "http://example.org/5?from=%C3%BC%20b"
    server.on("/5", Answer(status=302, headers={"location": "/6"}))
    web = Web(server)
    assert "redirects more than 5 times" in (await web.refusal("http://example.org/0")).message
    assert web.paths()[-1].startswith("/5")


async def test_a_name_that_is_rebound_between_check_and_connection_gains_nothing(server: WireServer) -> None:
    server.on("/", PAGE).on("/again", PAGE)
    names = Names({"example.org": [[PUBLIC], ["127.0.0.1"], ["169.254.169.254"]]})
    web = Web(server, names)
    async with web.fetcher:
        await web.fetcher.fetch("http://example.org/")
        await web.fetcher.fetch("http://example.org/again")
    assert names.asked == ["example.org"], "the answer that was checked is the one that is used"
    assert web.wires.asked == [(PUBLIC, 80)]

    closing = Web(server.on("/", Answer(body="x", headers={"content-type": "text/plain"}, length=1)), names)
    assert "127.0.0.1, which is this machine" in (await closing.refusal("http://example.org/")).message
    assert closing.wires.asked == []


async def test_a_new_connection_is_checked_again(server: WireServer) -> None:
    server.on("/robots.txt", NO_RULES)
    closed = Answer(body="x", headers={"content-type": "text/plain", "connection": "close"})
    web = Web(server.on("/", closed), Names({"example.org": [[PUBLIC], ["10.0.0.7"]]}))
    async with web.fetcher:
        await web.fetcher.fetch("http://example.org/")
        with pytest.raises(FetchRefused, match=r"leads to 10\.0\.0\.7, which is private"):
            await web.fetcher.fetch("http://example.org/")
    assert web.wires.asked == [(PUBLIC, 80)]


async def test_a_socket_that_ended_elsewhere_is_not_used(server: WireServer) -> None:
    web = Web(server.on("/", PAGE), backend=Wires(server, honest=True))
    error = await web.refusal("http://example.org/")
    assert "example.org leads to 127.0.0.1, which is this machine" in error.message
    assert server.received == []


async def test_without_a_replaced_name_server_nothing_private_is_reached_either(server: WireServer) -> None:
    server.on("*", PAGE)
    for url in (server.url, f"http://localhost:{server.port}/", "http://localhost/", "http://127.0.0.1/"):
        async with Fetcher() as fetcher:
            with pytest.raises(FetchRefused):
                await fetcher.fetch(url)
    assert server.received == []


async def test_another_address_of_the_name_is_tried_where_the_first_does_not_answer(server: WireServer) -> None:
    names = Names({"example.org": [["2606:2800:220:1::1", PUBLIC]]})
    web = Web(server.on("/", PAGE), names, backend=Wires(server, dead=["2606:2800:220:1::1"]))
    assert (await web.fetch("http://example.org/")).fetched_from == PUBLIC
    assert [host for host, _ in web.wires.asked] == ["2606:2800:220:1::1", PUBLIC]


async def test_a_page_comes_with_what_it_is_and_where_it_was(server: WireServer) -> None:
    server.on("/a", Answer(status=301, headers={"location": "/b#part", "set-cookie": "id=1"})).on("/b", PAGE)
    found = await Web(server).fetch(" HTTP://Example.ORG:80/a#top ")
    assert found.url == " HTTP://Example.ORG:80/a#top "
    assert found.final_url == "http://example.org/b"
    assert (found.content_type, found.charset, found.body) == ("text/html", "utf-8", b"<html>tides</html>")
    assert found.fetched_from == PUBLIC
    for one in server.received:
        assert one.headers["host"] == "example.org"
        assert one.headers["user-agent"].startswith("graph-research/")
        assert not {"cookie", "authorization", "referer"} & one.headers.keys()


async def test_the_certificate_is_asked_for_the_name_and_not_for_the_address() -> None:
    with WireServer(tls=True, names=("example.org",)) as server:
        web = Web(server.on("/", PAGE), trust=server.trust)
        assert (await web.fetch("https://example.org/")).final_url == "https://example.org/"
        assert web.wires.asked == [(PUBLIC, 443)]
        other = Web(server, trust=server.trust)
        assert "certificate of example.com is not trusted" in (await other.refusal("https://example.com/")).message
        stranger = Web(server)
        assert "certificate" in (await stranger.refusal("https://example.org/")).message


async def test_names_in_every_script_are_asked_for_as_name_servers_know_them(server: WireServer) -> None:
    web = Web(server.on("*", PAGE))
    await web.fetch("http://MÜNCHEN.example.ORG./straße?q=grüße&r=[1]")
    assert web.names.asked == ["xn--mnchen-3ya.example.org"]
    assert web.paths() == ["/stra%C3%9Fe?q=gr%C3%BC%C3%9Fe&r=[1]"]


@pytest.mark.parametrize(
    ("entry", "url"),
    [
        ("wiki.intern:8443", "http://wiki.intern:8443/page"),
        ("WIKI.intern.", "http://wiki.intern/page"),
        ("wiki", "https://wiki/page"),
        ("127.0.0.1:9000", "http://127.0.0.1:9000/page"),
        ("[fd00::7]:9000", "http://[fd00::7]:9000/page"),
    ],
)
async def test_a_host_of_the_users_own_is_fetched_from(entry: str, url: str) -> None:
    own = Names({"wiki.intern": [["10.0.0.9"]], "wiki": [["fd00::9"]]})
    with WireServer(tls=url.startswith("https"), names=("wiki",)) as server:
        web = Web(server.on("/page", PAGE), own, own_hosts=[entry], trust=server.trust)
        assert (await web.fetch(url)).final_url == url


@pytest.mark.parametrize(
    ("entry", "url", "address"),
    [
        ("wiki.intern:8443", "http://wiki.intern/", "10.0.0.9"),
        ("wiki.intern:8443", "http://wiki.intern:8444/", "10.0.0.9"),
        ("wiki.intern", "http://wiki.intern:8443/", "10.0.0.9"),
        ("wiki.intern", "http://other.wiki.intern/", "10.0.0.9"),
        ("wiki.intern", "http://wiki.intern/", "169.254.169.254"),
        ("wiki.intern", "http://wiki.intern/", "fd00:ec2::254"),
        ("wiki.intern", "http://wiki.intern/", "::ffff:10.0.0.9"),
        ("169.254.169.254", "http://169.254.169.254/", ""),
        ("wiki.intern", "file://wiki.intern/etc/passwd", ""),
    ],
)
async def test_a_host_of_the_users_own_allows_no_other_host(
    server: WireServer, entry: str, url: str, address: str
) -> None:
    web = Web(server, Names({"*": [[address]]}), own_hosts=[entry])
    await web.refusal(url)
    assert web.wires.asked == []


@pytest.mark.parametrize("entry", ["", "http://wiki/", "wiki/page", "a b", "user@wiki", "wiki:port", "10.0.0.0/8", "*"])
def test_an_own_host_that_is_none_is_named(entry: str) -> None:
    with pytest.raises(AddressInvalid):
        OwnHosts.named([entry])


async def test_an_unknown_name_is_reported(server: WireServer) -> None:
    web = Web(server, Names({"example.org": [[PUBLIC]]}))
    assert "the name example.net is unknown" in (await web.refusal("http://example.net/")).message
    assert web.names.asked == ["example.net"]


async def test_the_environments_proxies_and_keys_play_no_part(
    server: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with WireServer() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        web = Web(server.on("/", PAGE))
        await web.fetch("http://example.org/")
        assert proxy.received == []


@pytest.mark.parametrize(
    ("url", "reads"),
    [
        ("http://example.org", "http://example.org/"),
        ("https://example.org:443?a=1#f", "https://example.org/?a=1"),
        ("https://example.org:80/x", "https://example.org:80/x"),
        ("http://93.184.216.34/x", "http://93.184.216.34/x"),
        ("http://0x5db8d822/", "http://93.184.216.34/"),
        ("http://[2606:2800:0220:0001::1]/", "http://[2606:2800:220:1::1]/"),
        ("http://a_b.example.org/%7Ex y", "http://a_b.example.org/%7Ex%20y"),
    ],
)
def test_an_address_is_read_in_one_way_only(url: str, reads: str) -> None:
    address = read_address(url, OwnHosts())
    assert str(address) == reads
    assert str(read_address(reads, OwnHosts())) == reads


def test_the_tables_are_as_long_as_promised() -> None:
    assert len(FORBIDDEN_ADDRESSES) >= 60
    assert len(FORBIDDEN_URLS) >= 60


@settings(max_examples=400, deadline=None)
@given(
    st.builds(
        "{}://{}{}{}".format,
        st.sampled_from(["http", "HTTPS", "ftp"]),
        st.text("abz01239x.:[]@%-_/\\#? \u3002\uff11ü\u00df\u200b\n", max_size=24),
        st.sampled_from(["", ".org", ".example.org", ":80", ":443"]),
        st.text('/?#%&=; .ü\u2028\\ab"<', max_size=12),
    )
)
def test_whatever_is_written_is_refused_or_read_in_one_way_only(url: str) -> None:
    try:
        address = read_address(url, OwnHosts())
    except AddressInvalid:
        return
    assert str(address).isascii()
    assert read_address(str(address), OwnHosts()) == address
    parts = urlsplit(str(address))
    assert (parts.scheme, parts.hostname, parts.username) == (address.scheme, address.host, None)
    assert why_private(address.host) in (None, "no address")
