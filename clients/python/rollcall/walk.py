import difflib
import inspect
import json
import math
import time
import uuid
from collections.abc import Callable, Iterator

import httpx

from .errors import RollcallError, refusal_from
from .generated.api.directory import search_creators
from .generated.client import AuthenticatedClient
from .generated.models import DirectoryCreator
from .retries import draw_pause

# What ended a walk early, and a later call goes on after.
PASSING = ("NETWORK_ERROR", "UNREADABLE", "SERVICE_UNAVAILABLE", "INTERNAL_ERROR")


PARAMETERS = [name for name in inspect.signature(search_creators.sync).parameters if name != "client"]


def _assert_filters(query: dict[str, str | int | float | bool]) -> None:
    """A walk is paid by its length, so a filter that would be ignored is refused before anything is sent."""
    for name, value in query.items():
        if name not in PARAMETERS:
            near = difflib.get_close_matches(name, PARAMETERS, 1)
            meant = f" Did you mean {near[0]}?" if near else ""
            raise TypeError(f"{name} is not a parameter of search.{meant}")
        if str(value).strip() == "":
            raise TypeError(f"{name} is blank: leave it out.")


class _Cut(Exception):
    """The walk goes on in another call."""


class _Walk:
    """Where a walk is."""

    def __init__(self, query: dict[str, str | int | float | bool], on_left: Callable[[int], None] | None) -> None:
        self.query = query
        self.on_left = on_left
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
            elif "left" in item:
                if self.on_left:
                    self.on_left(item["left"])
            else:
                end = item["walk"]
                if end["complete"]:
                    return
                reason = end.get("reason") or {}
                if reason and reason["code"] not in PASSING:
                    request_id = self.headers["x-request-id"]
                    raise refusal_from({**reason, "request_id": request_id, "next": end["next"]}, 200)
                self.cursor = end["next"] or self.cursor
                raise _Cut
        raise _Cut


def walk(
    client: AuthenticatedClient,
    retries: int = 5,
    on_left: Callable[[int], None] | None = None,
    **query: str | int | float | bool,
) -> Iterator[DirectoryCreator]:
    """Every match of a search, each once: `walk(client, city="NYC")`.

    After a cut it goes on where it was, and pays only for what is new. With `changed_since`, `on_left` is called with the
    key of each creator that a copy of the search has to delete.
    """
    _assert_filters(query)
    state = _Walk(query, on_left)
    attempt = 0
    while attempt <= retries:
        before = state.count
        try:
            http = client.get_httpx_client()
            with http.stream("GET", "/v1/creators/search", params=state.params(), headers=state.headers) as response:
                yield from state.read(response)
            return
        except (_Cut, RollcallError, json.JSONDecodeError) as error:
            if isinstance(error, RollcallError) and error.code not in PASSING:
                raise
            attempt = 1 if state.count > before else attempt + 1
            time.sleep(draw_pause(attempt))
    message = "The walk broke again and again without reading anything new."
    raise RollcallError("NETWORK_ERROR", message, 0, state.headers["x-request-id"])
