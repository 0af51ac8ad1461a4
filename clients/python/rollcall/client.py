import email.utils
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import httpx

from .generated.client import AuthenticatedClient
from .generated.models import Error

RETRIED = (429, 503)
LONGEST_WAIT_S = 60.0

Answer = TypeVar("Answer")


def _wait_of(response: httpx.Response | None, attempt: int) -> float:
    """What the server asks for, in seconds or as a date; else twice as long each time."""
    asked = response.headers.get("retry-after") if response else None
    if asked is None:
        seconds = 0.25 * 2**attempt
    elif asked.replace(".", "", 1).isdigit():
        seconds = float(asked)
    else:
        seconds = email.utils.parsedate_to_datetime(asked).timestamp() - time.time()
    return min(max(seconds, 0.0), LONGEST_WAIT_S)


class _Retrying(httpx.BaseTransport):
    """Tries again what may be tried again: a change carries an Idempotency-Key, so that it is made once."""

    def __init__(self, inner: httpx.BaseTransport, retries: int) -> None:
        self._inner = inner
        self._retries = retries

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if request.method != "GET" and "idempotency-key" not in request.headers:
            request.headers["idempotency-key"] = str(uuid.uuid4())
        attempt = 0
        while True:
            response: httpx.Response | None = None
            is_last = attempt >= self._retries
            try:
                response = self._inner.handle_request(request)
            except httpx.TransportError:
                if is_last:
                    raise
            if response is not None and (is_last or response.status_code not in RETRIED):
                return response
            wait = _wait_of(response, attempt)
            if response is not None:
                response.close()
            time.sleep(wait)
            attempt += 1

    def close(self) -> None:
        self._inner.close()


def open_rollcall(key: str, base_url: str, retries: int = 3) -> AuthenticatedClient:
    """A client for every operation: `list_campaigns.sync(client=client)`."""
    transport = _Retrying(httpx.HTTPTransport(), retries)
    return AuthenticatedClient(base_url=base_url.rstrip("/"), token=key, httpx_args={"transport": transport})


class RollcallError(Exception):
    """A refusal of the API's. `code` is one of `rollcall.generated.models.ErrorCode`: branch on it."""

    def __init__(self, refusal: Error) -> None:
        super().__init__(f"{refusal.code}: {refusal.error}")
        self.code = refusal.code
        self.refusal = refusal


def answer_of(answer: Answer | Error | None) -> Answer:
    """The answer of a call, or its refusal as a RollcallError."""
    if isinstance(answer, Error):
        raise RollcallError(answer)
    if answer is None:
        raise ValueError("The API's answer could not be read.")
    return answer


def every_item(list_page: Callable[[int], Any]) -> Iterator[Any]:
    """Every item of a list: `every_item(lambda page: list_campaigns.sync(client=client, page=page))`."""
    page = 1
    while True:
        answer = answer_of(list_page(page))
        yield from answer.data
        if not answer.pagination.has_more:
            return
        page += 1
