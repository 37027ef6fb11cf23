"""Following hits to their pages: which are worth reading, read in parallel through the journal, and what came of it."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from graph_research.graph.context import Context
from graph_research.providers.call_kind import CallKind
from graph_research.providers.errors import ProviderError, ProviderRefused, ProviderUnavailable
from graph_research.providers.http.redaction import redact
from graph_research.providers.http.telemetry import request_purpose
from graph_research.providers.search.base import LOCAL, Extent, Passage, SearchHit
from graph_research.research.retrieval.rank_fusion import FusedHit, ranked_again
from graph_research.research.scoring.tiers import CREDIBILITY, tier_of_address
from graph_research.text.document import Document
from graph_research.text.evidence import HIGHEST_SCORE, select_evidence
from graph_research.text.language.terms import content_terms, occurring

if TYPE_CHECKING:
    from graph_research.providers.web.page_reader import PageCache

_TIER_WEIGHT = 0.25
_IN_PART = 0.8


@dataclass(frozen=True, kw_only=True)
class PagePolicy:
    """How pages are read: by whom, at most how many of a search and at a time, each for at most `seconds`.

    `links` are the pages of hits, `pdfs` PDF files; each is read only where it is switched on. Pages in `flagged`
    domains are the last to be read.
    """

    pages: PageCache
    most: int
    at_once: int = 3
    seconds: float = 30.0
    links: bool = True
    pdfs: bool = False
    flagged: Collection[str] = ()


@dataclass(frozen=True, kw_only=True)
class FetchedPages:
    """The documents in their final order, the addresses that were read, and the failures as the state keeps them."""

    fused: tuple[FusedHit, ...]
    read: tuple[str, ...] = ()
    failures: tuple[dict[str, str], ...] = ()


async def fetch_pages(fused: Sequence[FusedHit], query: str, ctx: Context, policy: PagePolicy | None) -> FetchedPages:
    """Read the pages of hits that are known by a snippet only: the most promising by rank, snippet and
    domain are fetched, then all are ranked again by their texts. A page that cannot be read leaves its snippet, with
    `metadata.fetch_error`. Only addresses that a search gave are fetched.
    """
    addresses = {} if policy is None else _addresses(fused, policy)
    if policy is None or not addresses:
        return FetchedPages(fused=tuple(fused))
    unread = [fused[place] for place in addresses]
    worths = {place: promise(fused[place].hit, query, policy.flagged) for place in addresses}
    promising = ranked_again(unread, list(worths.values()))[: policy.most]
    chosen = [place for place in addresses if any(document is fused[place] for document in promising)]
    slots = asyncio.Semaphore(policy.at_once)
    async with asyncio.TaskGroup() as group:
        tasks = {
            place: group.create_task(_followed(fused[place], addresses[place], query, ctx, policy, slots))
            for place in chosen
        }
    followed = {place: task.result() for place, task in tasks.items()}
    read = [followed[place][0] if place in followed else document for place, document in enumerate(fused)]
    errors = {place: error for place, (_, error) in followed.items() if error is not None}
    for place, error in errors.items():
        if _is_pdf(fused[place].hit, addresses[place]):
            facts = {"error_type": type(error).__name__, "message": redact(error.message)}
            ctx.emit("digest.pdf_extract_error", url=addresses[place], **facts)
    for place, document in enumerate(read):
        if document is not fused[place] or place not in worths:
            worths[place] = promise(document.hit, query, policy.flagged)
    return FetchedPages(
        fused=tuple(ranked_again(read, [worths[place] for place in range(len(read))])),
        read=tuple(addresses[place] for place in followed if place not in errors),
        failures=tuple(_failure(addresses[place], query, error) for place, error in errors.items()),
    )


def promise(hit: SearchHit, query: str, flagged: Collection[str] = ()) -> float:
    """How much a hit's title and text promise: the share of the query's terms in them, 0 to 1, less where there is
    only a part of the text, and a quarter of its domain's credibility on top."""
    wanted = frozenset(content_terms(query))
    is_whole = hit.extent is Extent.FULL
    there = occurring(wanted, f"{hit.title} {'' if is_whole else hit.snippet} {hit.document.text}")
    share = len(there) / len(wanted) if wanted else 0.0
    credibility = CREDIBILITY[tier_of_address(hit.url, flagged)]
    return share * (1.0 if is_whole else _IN_PART) + _TIER_WEIGHT * credibility


def _addresses(fused: Sequence[FusedHit], policy: PagePolicy) -> dict[int, str]:
    """By place in the list, the address to read: a paper's PDF where PDFs are read, else the page of a hit without a
    text of its own."""
    found: dict[int, str] = {}
    for place, document in enumerate(fused):
        extent = document.hit.extent
        if document.hit.provider == LOCAL or extent is Extent.FULL:
            continue
        pdf = document.hit.metadata.get("pdf_url") if policy.pdfs else None
        address = pdf if _is_web(pdf) else document.hit.url if extent is not Extent.ABSTRACT else None
        if address is None or not _is_web(address):
            continue
        if policy.pdfs if _is_pdf(document.hit, address) else policy.links:
            found[place] = address
    return found


def _is_pdf(hit: SearchHit, address: str) -> bool:
    return address == hit.metadata.get("pdf_url") or _path(address).endswith(".pdf")


async def _followed(
    one: FusedHit, url: str, query: str, ctx: Context, policy: PagePolicy, slots: asyncio.Semaphore
) -> tuple[FusedHit, ProviderError | None]:
    """The document with the text of its page, or with the error where the page could not be read."""
    page = _at_least(await _read(url, ctx, policy, slots), one.hit)
    return _with_page(one, page, query), page if isinstance(page, ProviderError) else None


async def _read(
    url: str, ctx: Context, policy: PagePolicy, slots: asyncio.Semaphore
) -> Mapping[str, Any] | ProviderError:
    async with slots:
        try:
            page: Mapping[str, Any] = await ctx.call(
                CallKind.FETCH.value, {"url": url}, partial(_fetch, url, policy), at_hand=policy.pages.is_kept(url)
            )
        except ProviderError as error:
            return error
        if page.get("pdf_seconds") is not None:
            ctx.emit(
                "pdf.extracted",
                url=url,
                pages=len(page["layout"]["pages"]),
                seconds=page["pdf_seconds"],
                peak_bytes=page.get("pdf_peak_bytes", 0),
            )
        return page


def _at_least(page: Mapping[str, Any] | ProviderError, hit: SearchHit) -> Mapping[str, Any] | ProviderError:
    """The page, or an error where it has less text than the snippet, as a page for login or consent has."""
    if isinstance(page, ProviderError) or len(page["text"]) >= max(len(hit.document.text), 1):
        return page
    return ProviderRefused("the page has less text than the search result", provider="fetch")


async def _fetch(url: str, policy: PagePolicy) -> dict[str, Any]:
    try:
        async with asyncio.timeout(policy.seconds):
            with request_purpose("page"):
                page = await policy.pages.read(url)
    except TimeoutError as error:
        raise ProviderUnavailable(
            f"the page took longer than {policy.seconds:g} seconds", provider="fetch", help="raise page_timeout"
        ) from error
    return {
        "url": page.url,
        "content_type": page.content_type,
        "text": page.document.text,
        "layout": page.document.layout(),
        **({} if page.bytes_hash is None else {"bytes_hash": page.bytes_hash}),
        **({"validators": validators} if (validators := page.validators.to_json()) else {}),
        **({} if page.pdf_seconds is None else _pdf_facts(page.pdf_seconds, page.pdf_peak_bytes)),
    }


def _pdf_facts(seconds: float, peak_bytes: int) -> dict[str, Any]:
    return {"pdf_seconds": round(seconds, 3), "pdf_peak_bytes": peak_bytes}


def _with_page(one: FusedHit, page: Mapping[str, Any] | ProviderError, query: str) -> FusedHit:
    hit, metadata = one.hit, dict(one.hit.metadata)
    if isinstance(page, ProviderError):
        metadata["fetch_error"] = f"{type(page).__name__}: {page.message}"
        return replace(one, hit=replace(hit, metadata=metadata))
    metadata["extent"] = Extent.FULL.value
    if page.get("bytes_hash"):
        metadata["bytes_hash"] = page["bytes_hash"]
    if page["url"] != hit.url:
        metadata["read_at"] = page["url"]
    if validators := page.get("validators"):
        metadata["validators"] = validators
    document = Document.from_layout(page["text"], page["layout"])
    passages = tuple(
        Passage(start=found.start, end=found.end, score=found.score / HIGHEST_SCORE)
        for found in select_evidence(document, query)
    )
    return replace(
        one,
        hit=replace(
            hit,
            title=hit.title or document.title,
            document=document,
            passages=passages,
            content_type=page["content_type"],
            metadata=metadata,
        ),
    )


def _failure(url: str, query: str, error: ProviderError) -> dict[str, str]:
    return {"query": query, "provider": "fetch", "url": url, "error": type(error).__name__, "message": str(error)}


def _is_web(address: Any) -> bool:
    return isinstance(address, str) and address.startswith(("http://", "https://"))


def _path(address: str) -> str:
    try:
        return urlsplit(address).path.lower()
    except ValueError:
        return ""
