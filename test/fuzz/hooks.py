"""Each request gets another key and another address, so that the rate limit never hides an answer."""

import itertools
import threading
from pathlib import Path

import schemathesis

# Written by main.ts into the folder in which it starts Schemathesis.
KEYS = itertools.cycle(Path("keys.txt").read_text().split())
NUMBERS = itertools.count()
TURN = threading.Lock()


def next_number():
    with TURN:
        return next(NUMBERS)


@schemathesis.auth(cache_by_key=lambda case, context: str(next_number()))
class RotatingKey:
    def get(self, case, context):
        with TURN:
            return next(KEYS)

    def set(self, case, data, context):
        case.headers = case.headers or {}
        case.headers["Authorization"] = f"Bearer {data}"


@schemathesis.hook
def before_call(context, case, **kwargs):
    number = next_number()
    case.headers = case.headers or {}
    case.headers["X-Forwarded-For"] = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
