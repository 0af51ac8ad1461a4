import json
import math
import time
import uuid
from collections.abc import Iterator

import httpx

from .client import RollcallError
from .generated.client import AuthenticatedClient
from .generated.models import DirectoryCreator, Error

# What ended a walk early, and a later call goes on after.
PASSING = ("SERVICE_UNAVAILABLE", "INTERNAL_ERROR")


class _Cut(Exception):
    """The walk goes on in another call."""


class _Walk:
    """Where a walk is."""

    def __init__(self, query: dict[str, str | int | float | bool]) -> None:
        self.query = query
        self.cursor: str | None = None
        self.count = 0
        # Those that come again if the walk goes on from the cursor.
        self.seen: set[int] = set()
        # The same name for each attempt: one that broke before its first line is not paid twice.
        self.headers = {"accept": "application/x-ndjson", "x-request-id": str(uuid.uuid4())}

    def params(self) -> dict[str, str]:
        texts = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in self.query.items()}
        if "max_credits" in texts:
            texts["max_credits"] = str(max(0, int(texts["max_credits"]) - 10 * math.ceil(self.count / 100)))
        return {**texts, "walk": "true", **({"cursor": self.cursor} if self.cursor else {})}

    def read(self, response: httpx.Response) -> Iterator[DirectoryCreator]:
        is_first = True
        for line in response.iter_lines():
            item = json.loads(line)
            if "pk" in item:
                if item["pk"] in self.seen:
                    continue
                self.seen.add(item["pk"])
                self.count += 1
                yield DirectoryCreator.from_dict(item)
            elif "cursor" in item:
                # The first line is where this attempt began.
                if not is_first:
                    self.seen.clear()
                is_first = False
                self.cursor = item["cursor"]
            else:
                end = item["walk"]
                if end["complete"]:
                    return
                reason = end.get("reason") or {}
                if reason and reason["code"] not in PASSING:
                    raise RollcallError(Error.from_dict({**reason, "request_id": "", "next": end["next"]}))
                self.cursor = end["next"] or self.cursor
                raise _Cut
        raise _Cut


def walk(client: AuthenticatedClient, retries: int = 5, **query: str | int | float | bool) -> Iterator[DirectoryCreator]:
    """Every match of a search, each once: `walk(client, city="NYC")`.

    After a cut it goes on where it was, and pays only for what is new.
    """
    state = _Walk(query)
    attempt = 0
    while attempt <= retries:
        before = state.count
        try:
            http = client.get_httpx_client()
            with http.stream("GET", "/v1/creators/search", params=state.params(), headers=state.headers) as response:
                if response.status_code != 200:
                    raise RollcallError(Error.from_dict(json.loads(response.read())))
                yield from state.read(response)
            return
        except (_Cut, httpx.TransportError, json.JSONDecodeError):
            attempt = 1 if state.count > before else attempt + 1
            time.sleep(0.25 * 2**attempt)
    raise ConnectionError("The walk broke again and again without reading anything new.")
