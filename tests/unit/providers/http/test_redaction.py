"""Keys are redacted from texts, and little else."""

import pytest

from graph_research.providers.http.redaction import redact


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("no such key: s3cr3t/x+y z", "no such key: [key]"),
        ("?key=s3cr3t%2Fx%2By%20z&q=1", "?key=[key]&q=1"),
        ("?q=1&cx=s3cr3t%2Fx%2By+z", "?q=1&cx=[key]"),
        ("Incorrect API key provided: sk-proj-abcd****wxyz.", "Incorrect API key provided: [key]"),
        ("Authorization: Bearer eyJhbGciOi.abc", "Authorization: [key]"),
        ("key AIzaSyA-1234567890_abcdefghijk is off", "key [key] is off"),
        ('{"api_key": "abcdefgh", "q": 1}', '{"api_key": "[key]", "q": 1}'),
        ("https://h/x?access_token=abcdefgh", "https://h/x?access_token=[key]"),
        ("no answer from https://ada:pass@word@h:80/x?q=1", "no answer from https://[key]@h:80/x?q=1"),
        ("cannot connect to postgresql://ada:pass@db/runs", "cannot connect to postgresql://[key]@db/runs"),
        ("sent x-api-key: 0123456789abcdef", "sent x-api-key: [key]"),
        ("called with api_key=abcd1234", "called with api_key=[key]"),
        ("BRAVE_API_KEY='abcd1234efgh'", "BRAVE_API_KEY='[key]'"),
        ("api_key: missing value", "api_key: missing value"),
        ("https://h/@ada/x, or write to ada@h.org", "https://h/@ada/x, or write to ada@h.org"),
        ("maximum context length is 8192 tokens", "maximum context length is 8192 tokens"),
        ("missing required key: messages", "missing required key: messages"),
        ("a task-oriented, risk-free sk- example", "a task-oriented, risk-free sk- example"),
        ("token: limit exceeded", "token: limit exceeded"),
    ],
)
def test_keys_and_texts_that_look_like_keys_are_redacted(text: str, shown: str) -> None:
    assert redact(text, ["s3cr3t/x+y z"]) == shown


def test_the_longest_secret_is_redacted_first_and_a_short_one_splits_no_words() -> None:
    assert redact("abcdefgh abcdefghij of", ["abcdefgh", "abcdefghij", "of", ""]) == "[key] [key] of"
