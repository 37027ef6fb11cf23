"""An audit as Markdown and as one HTML page."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from graph_research.research.audit.model import Audit, AuditedSentence, AuditQuote, Verdict
from graph_research.research.report.formatting import place
from graph_research.research.report.labels.languages import labels_for
from graph_research.text.wording import counted

WORDS: Mapping[Verdict, str] = {
    Verdict.SUPPORTED: "supported",
    Verdict.CONTRADICTED: "contradicted",
    Verdict.UNCLEAR: "unclear",
    Verdict.NOT_FOUND: "not found",
    Verdict.NOT_CHECKABLE: "not checkable",
}
_STYLE = """:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
li { margin: 0 0 1rem; } blockquote { margin: 0.3rem 0 0.3rem 1rem; color: #444; }
.supported { color: #17663a; } .contradicted { color: #a11; }
.unclear { color: #44599a; } .not_found { color: #8a5a00; } .not_checkable { color: #666; }
b { font-weight: 600; } small { color: #555; }
@media (prefers-color-scheme: dark) {
body { background: #16181b; color: #e4e1da; } blockquote, small, .not_checkable { color: #a0a4aa; }
.supported { color: #83cfa5; } .contradicted { color: #f09b86; }
.unclear { color: #a9bbea; } .not_found { color: #d3bf6f; }
}"""


def summary(audit: Audit) -> str:
    """How many sentences have which verdict, in one line."""
    told = ", ".join(f"{audit.counts[verdict.value]} {WORDS[verdict]}" for verdict in Verdict)
    return f"{counted(len(audit.sentences), 'sentence')}: {told}"


def footnote(audit: Audit) -> str:
    """What "not found" says of sentences that code alone compared; empty where there are none."""
    if not any(row.verdict is Verdict.NOT_FOUND and not row.model for row in audit.sentences):
        return ""
    return (
        "not found: no passage has enough of the sentence's words. One may say it in other words, which code does not "
        "tell; a model of the role verification does"
    )


def where(quote: AuditQuote) -> str:
    """The document and the place of a passage."""
    return f"{quote.title} ({quote.path}, {place(quote.locator, labels_for('en'), quote.place)})"


def markdown(audit: Audit) -> str:
    """The audit as Markdown."""
    lines = [f"# Audit of {_plain(audit.title)}", "", f"Compared with {counted(audit.documents, 'document')}.", ""]
    lines += [f"{summary(audit)}.", "", *([f"{footnote(audit)}.", ""] if footnote(audit) else [])]
    for row in audit.sentences:
        lines += [f"{row.n}. **{_verdict(row)}** {_plain(row.text)}", ""]
        for name, quote in _quotes(row):
            lines += [f"   > {name}: “{_plain(quote.quote)}” — {_plain(where(quote))}", ""]
        if note := _note(row):
            lines += [f"   {_plain(note)}", ""]
    lines += [f"- not read: {_plain(name)}" for name in audit.unread]
    return "\n".join(lines).rstrip() + "\n"


def html(audit: Audit) -> str:
    """The audit as one page without scripts or foreign content."""
    rows = []
    for row in audit.sentences:
        quotes = "".join(
            f"<blockquote>{escape(name)}: “{escape(quote.quote)}”<br><small>{escape(where(quote))}</small></blockquote>"
            for name, quote in _quotes(row)
        )
        note = _note(row)
        rows.append(
            f'<li value="{row.n}"><b class="{row.verdict.value}">{escape(_verdict(row))}</b> {escape(row.text)}{quotes}'
            + (f"<small>{escape(note)}</small>" if note else "")
            + "</li>"
        )
    unread = "".join(f"<li>not read: {escape(name)}</li>" for name in audit.unread)
    title = f"Audit of {escape(audit.title)}"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{title}</title><style>{_STYLE}</style></head><body><h1>{title}</h1>"
        f"<p>Compared with {counted(audit.documents, 'document')}. {escape(summary(audit))}.</p>"
        f"{f'<p><small>{escape(footnote(audit))}.</small></p>' if footnote(audit) else ''}"
        f"<ol>{''.join(rows)}</ol><ul>{unread}</ul></body></html>\n"
    )


def _verdict(row: AuditedSentence) -> str:
    scored = row.verdict is Verdict.SUPPORTED
    return f"{WORDS[row.verdict]} ({row.score:.2f})" if scored else WORDS[row.verdict]


def _quotes(row: AuditedSentence) -> list[tuple[str, AuditQuote]]:
    names = {Verdict.SUPPORTED: "says it", Verdict.CONTRADICTED: "says otherwise"}
    found = [(names.get(row.verdict, "nearest"), row.quote), ("says otherwise", row.against)]
    return [(f"{name}, cited" if quote.cited else name, quote) for name, quote in found if quote is not None]


def _note(row: AuditedSentence) -> str:
    unfollowed = f"no document of the library for {', '.join(f'[{name}]' for name in row.unfollowed)}"
    return "; ".join(filter(None, [row.reason, unfollowed if row.unfollowed else ""]))


def _plain(text: str) -> str:
    """Other people's text in one line, its marks of Markdown taken as text."""
    line = " ".join(text.split())
    return "".join(f"\\{character}" if character in "\\`*_[]<>#|~" else character for character in line)
