"""The circuit breaker: when it opens, what it lets through, and when it closes."""

import asyncio

import pytest

from graph_research.providers.http.circuit_breaker import BreakerOpen, BreakerPolicy, CircuitBreaker


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Down(Exception):
    pass


def attempts(breaker: CircuitBreaker, marks: str) -> None:
    """`x` fails, `t` is too slow, `.` succeeds, `?` ends with an error that says that somebody answered, `c` is
    cancelled."""
    errors = {"x": Down(), "t": TimeoutError(), "?": ValueError(), "c": asyncio.CancelledError()}
    for mark in marks:
        try:
            with breaker.attempt(failing=(Down,)):
                if mark in errors:
                    raise errors[mark]
        except (Down, TimeoutError, ValueError, asyncio.CancelledError):
            pass


@pytest.mark.requirement("11.21", "B20")
@pytest.mark.parametrize(
    ("marks", "opens"),
    [
        ("xxxx", False),
        ("xxxxx", True),
        ("tttxx", True),
        ("xxx.x", True),
        ("xx..x", False),
        (".xxx.xx", True),
        ("..xxxx", False),
        ("..xxxxx", True),
        ("...xxxxxxx", False),
        ("...xxxxxxxx", True),
        ("....xxxxxxxx", True),
        ("xxxx.", True),
        ("xxxx?", True),
        ("xxxxc", False),
        ("xxxxcx", True),
    ],
)
def test_it_opens_when_more_than_seven_of_the_last_ten_attempts_failed_and_five_were_made(
    marks: str, opens: bool
) -> None:
    breaker = CircuitBreaker(clock=Clock())
    attempts(breaker, marks)
    assert breaker.is_open == opens


@pytest.mark.requirement("11.21", "B20")
def test_exactly_the_rate_is_not_above_it() -> None:
    breaker = CircuitBreaker(BreakerPolicy(window=10, least_attempts=10), clock=Clock())
    attempts(breaker, "...xxxxxxx")
    assert (breaker.window.failures, breaker.window.attempts, breaker.is_open) == (7, 10, False)
    attempts(breaker, "x")
    assert (breaker.window.failures, breaker.window.attempts, breaker.is_open) == (8, 10, True)


def test_an_open_breaker_says_how_long_and_why() -> None:
    clock = Clock()
    breaker = CircuitBreaker(clock=clock)
    attempts(breaker, "xxxxx")
    clock.now += 18
    with pytest.raises(BreakerOpen, match="5 of the last 5 attempts failed; the next one in 42 s"):
        breaker.attempt(failing=()).__enter__()


@pytest.mark.requirement("11.21", "B20")
def test_after_the_cooldown_one_attempt_is_let_through_and_its_success_closes_it() -> None:
    clock = Clock()
    breaker = CircuitBreaker(clock=clock)
    attempts(breaker, "xxxxx")
    clock.now += 59
    with pytest.raises(BreakerOpen):
        breaker.attempt(failing=()).__enter__()
    clock.now += 1
    with breaker.attempt(failing=(Down,)):
        with pytest.raises(BreakerOpen):
            breaker.attempt(failing=()).__enter__()
        assert breaker.is_open
    assert not breaker.is_open
    assert breaker.window.attempts == 1
    attempts(breaker, "xxx")
    assert not breaker.is_open


def test_a_probe_that_fails_opens_it_for_another_cooldown() -> None:
    clock = Clock()
    breaker = CircuitBreaker(clock=clock)
    attempts(breaker, "xxxxx")
    clock.now += 60
    attempts(breaker, "x")
    clock.now += 59
    with pytest.raises(BreakerOpen):
        breaker.attempt(failing=()).__enter__()
    clock.now += 1
    attempts(breaker, ".")
    assert not breaker.is_open


def test_a_probe_that_is_cancelled_leaves_room_for_another() -> None:
    clock = Clock()
    breaker = CircuitBreaker(clock=clock)
    attempts(breaker, "xxxxx")
    clock.now += 60
    attempts(breaker, "c")
    assert breaker.is_open
    attempts(breaker, ".")
    assert not breaker.is_open


def test_attempts_that_began_before_it_opened_change_nothing_about_its_cooldown() -> None:
    clock = Clock()
    breaker = CircuitBreaker(clock=clock)
    late = breaker.attempt(failing=(Down,))
    late.__enter__()
    attempts(breaker, "xxxxx")
    clock.now += 30
    late.__exit__(Down, Down(), None)
    clock.now += 30
    attempts(breaker, ".")
    assert not breaker.is_open


def test_it_can_be_reset_by_hand() -> None:
    breaker = CircuitBreaker(clock=Clock())
    attempts(breaker, "xxxxx")
    breaker.reset()
    assert not breaker.is_open
    assert breaker.window.attempts == 0
