"""How Schemathesis calls the API, and what it holds against it beyond its own checks."""

import itertools
import threading
from pathlib import Path

import schemathesis
from schemathesis.specs.openapi import checks

# Written by main.ts into the folder in which it starts Schemathesis.
KEYS = itertools.cycle(Path("keys.txt").read_text().split())
NUMBERS = itertools.count()
TURN = threading.Lock()

ON_EVERY_ANSWER = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id")

# Rules that no JSON Schema states: between two fields, or about the text within one.
RULES = {"contradiction", "invalid"}


def next_number():
    with TURN:
        return next(NUMBERS)


@schemathesis.auth(cache_by_key=lambda case, context: str(next_number()))
class AnotherKeyEachTime:
    """The rate limit is per key: no answer hides behind a 429."""

    def get(self, case, context):
        with TURN:
            return next(KEYS)

    def set(self, case, data, context):
        case.headers = case.headers or {}
        case.headers["Authorization"] = f"Bearer {data}"


@schemathesis.hook
def before_call(context, case, **kwargs):
    """The limit of callers without a valid key is per address."""
    number = next_number()
    case.headers = case.headers or {}
    case.headers["X-Forwarded-For"] = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


def is_blank(value):
    return str(value).strip() == ""


def is_number(value):
    return str(value).lstrip("+").isdecimal()


@schemathesis.check
def invalid_is_refused(ctx, response, case):
    """Not what is taken on purpose: a blank value counts as none, a limit over 100 is clamped."""
    query = dict(case.query or {})
    if any(is_blank(value) for value in query.values()):
        return None
    limit = query.get("limit")
    if limit is not None and is_number(limit) and int(limit) > 100:
        return None
    return checks.negative_data_rejection(ctx, response, case)


@schemathesis.check
def valid_is_accepted(ctx, response, case):
    """A 422 may only be for a rule that the document cannot state, or for a blank value that is required."""
    if response.status_code == 422:
        query = case.query or {}
        details = response.json().get("details") or [{}]
        if all(
            detail.get("code") in RULES
            or (detail.get("code") == "required" and is_blank(query.get(detail.get("field"), "")))
            for detail in details
        ):
            return None
    return checks.positive_data_acceptance(ctx, response, case)


@schemathesis.check
def every_answer_is_counted(ctx, response, case):
    missing = [name for name in ON_EVERY_ANSWER if name.lower() not in response.headers]
    assert not missing, f"The answer lacks {', '.join(missing)}"
