"""How Schemathesis calls the API, and what it holds against it beyond its own checks."""

import itertools
import re
import threading
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import schemathesis
from schemathesis.specs.openapi import checks

# Written by main.ts into the folder in which it starts Schemathesis.
KEYS = itertools.cycle(Path("keys.txt").read_text().split())
NUMBERS = itertools.count()
TURN = threading.Lock()

ON_EVERY_ANSWER = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id")

# What a JSON Schema states. A 422 of any other code is about two fields at once, the text within one, or what the
# brand has (an order keeps its currency, a made-up id is found nowhere), and no fault.
STATED = {"required", "invalid_type", "invalid_value", "invalid_format", "invalid_character", "too_small", "too_big"}
STATED |= {"not_multiple_of", "unrecognized_keys", "invalid_union", "invalid_key", "invalid_element"}

IDEMPOTENCY_KEY = "Idempotency-Key"


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


def is_key(text):
    return re.fullmatch(r"[!-~]{1,255}", text) is not None


@schemathesis.hook
def before_call(context, case, **kwargs):
    """The limit of callers without a valid key is per address; a call that repeats a key is answered without a try."""
    number = next_number()
    # A walk is a stream of lines, which no schema describes.
    if case.query and str(case.query.get("walk", "")).lower() == "true":
        case.query = {name: value for name, value in case.query.items() if name not in {"walk", "cursor"}}
    case.headers = case.headers or {}
    case.headers["X-Forwarded-For"] = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
    if is_key(str(case.headers.get(IDEMPOTENCY_KEY, ""))):
        case.headers[IDEMPOTENCY_KEY] = f"fuzz-{number}"


def sent_query(response):
    return parse_qs(urlsplit(response.request.url).query, keep_blank_values=True)


def is_blank(values):
    return all(value.strip().strip("\ufeff").strip() == "" for value in values)


@schemathesis.check
def invalid_is_refused(ctx, response, case):
    """Not what is taken on purpose: a blank value counts as none, blanks around
    a header's are none of it, a limit that no JSON number holds exactly is clamped, too."""
    query = sent_query(response)
    if any(is_blank(values) for values in query.values()):
        return None
    if any(limit.isdecimal() and int(limit) >= 2**53 for limit in query.get("limit", [])):
        return None
    key = response.request.headers.get(IDEMPOTENCY_KEY, "none")
    if len(key) == 0 or len(key.strip()) < len(key):
        return None
    return checks.negative_data_rejection(ctx, response, case)


def is_beyond_schema(detail, query):
    """Whether a detail of a 422 is about what no JSON Schema of one parameter states."""
    values = query.get(detail["field"], [])
    return (
        # A body's formats (handles, addresses, currencies) are stricter than their JSON Schema.
        (not values and detail["code"] in {"invalid_format", "invalid_character"})
        # A body's text is trimmed before it is measured.
        or (not values and detail["code"] == "too_small" and detail["message"].endswith('got "".'))
        # A comma within one value of a list separates two.
        or (values and detail["code"] == "too_small" and detail["message"].endswith('got "".'))
        # A body's text is measured in UTF-16, where an emoji is two; the schema's in characters.
        or (not values and detail["code"] == "too_big" and any(ord(one) > 0xFFFF for one in detail["message"]))
        # An address may be longer than a code.
        or (not values and detail["code"] == "too_big" and detail["field"] == "value")
        # A profile's address may be longer than a handle.
        or (values and detail["code"] == "invalid_format" and detail["field"] == "handle")
        or detail["code"] not in STATED
        # A report's parameters are held to the operation that the body names beside them.
        or (not values and detail["field"].startswith("parameters."))
        or (detail["code"] == "required" and is_blank(values))
        # A number is a JSON number to the schema; in a URL it is written out, never 1e-7.
        or (detail["code"] == "invalid_format" and any("e" in value for value in values))
    )


@schemathesis.check
def valid_is_accepted(ctx, response, case):
    # More than the caller wants to spend, by a parameter of the call itself.
    if response.status_code == 402 and "max_credits" in sent_query(response):
        return None
    if response.status_code == 422:
        query = sent_query(response)
        if all(is_beyond_schema(detail, query) for detail in response.json()["details"]):
            return None
    return checks.positive_data_acceptance(ctx, response, case)


@schemathesis.check
def every_answer_is_counted(ctx, response, case):
    missing = [name for name in ON_EVERY_ANSWER if name.lower() not in response.headers]
    assert not missing, f"The answer lacks {', '.join(missing)}"
