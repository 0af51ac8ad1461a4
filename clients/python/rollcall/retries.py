import asyncio
import email.utils
import random
import threading
import time
import uuid
from collections.abc import AsyncIterator, Iterator

import httpx

from .errors import error_from, network_error

# A proxy answers 502 and 504 for an API that it did not reach.
RATE_LIMITED = 429
RETRIED = (RATE_LIMITED, 502, 503, 504)
LONGEST_WAIT_S = 60.0
# So that no crowd of clients keeps a busy API busy.
MOST_RETRIES = 10.0
RETRIES_A_CALL = 0.1


def _seconds_until(date: str) -> float | None:
    try:
        return email.utils.parsedate_to_datetime(date).timestamp() - time.time()
    except ValueError:
        return None


def _retry_after(response: httpx.Response | None) -> float:
    """What the server asks for, in seconds or as a date; 0 if it does not."""
    asked = response.headers.get("retry-after") if response is not None else None
    if asked is None:
        return 0.0
    is_number = asked.isascii() and asked.replace(".", "", 1).isdigit()
    return max(float(asked) if is_number else _seconds_until(asked) or 0.0, 0.0)


def draw_pause(attempt: int) -> float:
    """A random time, up to twice as long each time, so that clients that failed together do not come again together."""
    return random.uniform(0.0, 0.25 * 2**attempt)


def _wait_of(response: httpx.Response | None, attempt: int) -> float:
    """No sooner than the server asks for."""
    return min(_retry_after(response) + draw_pause(attempt), LONGEST_WAIT_S)


class _Budget:
    """Retries of all calls of a client: ten at once, and then for a tenth of the calls."""

    def __init__(self) -> None:
        self._retries = MOST_RETRIES
        self._lock = threading.Lock()

    def note_call(self) -> None:
        with self._lock:
            self._retries = min(MOST_RETRIES, self._retries + RETRIES_A_CALL)

    def take(self) -> bool:
        with self._lock:
            if self._retries < 1:
                return False
            self._retries -= 1
            return True


def _name(request: httpx.Request) -> None:
    """Names a call, so that the API makes a change once and is paid once, however often it is sent."""
    if "x-request-id" not in request.headers:
        request.headers["x-request-id"] = str(uuid.uuid4())
    if request.method != "GET" and "idempotency-key" not in request.headers:
        request.headers["idempotency-key"] = str(uuid.uuid4())


def _is_json(response: httpx.Response) -> bool:
    content_type: str = response.headers.get("content-type", "")
    return response.status_code >= 400 or content_type.startswith("application/json")


class _Stream(httpx.SyncByteStream):
    """What is read by its caller, as a walk is: only the error is ours."""

    def __init__(self, response: httpx.Response, request: httpx.Request) -> None:
        self._stream = response.stream
        self._request = request

    def __iter__(self) -> Iterator[bytes]:
        assert isinstance(self._stream, httpx.SyncByteStream)
        try:
            yield from self._stream
        except httpx.TransportError as error:
            raise network_error(error, self._request) from error

    def close(self) -> None:
        assert isinstance(self._stream, httpx.SyncByteStream)
        self._stream.close()


class _AsyncStream(httpx.AsyncByteStream):
    def __init__(self, response: httpx.Response, request: httpx.Request) -> None:
        self._stream = response.stream
        self._request = request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        assert isinstance(self._stream, httpx.AsyncByteStream)
        try:
            async for part in self._stream:
                yield part
        except httpx.TransportError as error:
            raise network_error(error, self._request) from error

    async def aclose(self) -> None:
        assert isinstance(self._stream, httpx.AsyncByteStream)
        await self._stream.aclose()


class Retrying(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Tries again what may be tried again, and raises what failed as a RollcallError.

    One transport for both of httpx's clients, because a generated client passes the same arguments to both.
    """

    def __init__(self, retries: int) -> None:
        self._retries = retries
        self._budget = _Budget()
        self._sync = httpx.HTTPTransport()
        self._async = httpx.AsyncHTTPTransport()

    def _is_over(self, response: httpx.Response, attempt: int) -> bool:
        if response.status_code == RATE_LIMITED:
            # It is told when to come again, and is then answered.
            return attempt >= self._retries
        return response.status_code not in RETRIED or not self._may_retry(attempt)

    def _may_retry(self, attempt: int) -> bool:
        return attempt < self._retries and self._budget.take()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        _name(request)
        self._budget.note_call()
        attempt = 0
        while True:
            response: httpx.Response | None = None
            try:
                response = self._sync.handle_request(request)
                if _is_json(response):
                    response.read()
            except httpx.TransportError as error:
                response = None
                if not self._may_retry(attempt):
                    raise network_error(error, request) from error
            if response is not None and self._is_over(response, attempt):
                if response.status_code >= 400:
                    raise error_from(response)
                if not _is_json(response):
                    response.stream = _Stream(response, request)
                return response
            time.sleep(_wait_of(response, attempt))
            attempt += 1

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        _name(request)
        self._budget.note_call()
        attempt = 0
        while True:
            response: httpx.Response | None = None
            try:
                response = await self._async.handle_async_request(request)
                if _is_json(response):
                    await response.aread()
            except httpx.TransportError as error:
                response = None
                if not self._may_retry(attempt):
                    raise network_error(error, request) from error
            if response is not None and self._is_over(response, attempt):
                if response.status_code >= 400:
                    raise error_from(response)
                if not _is_json(response):
                    response.stream = _AsyncStream(response, request)
                return response
            await asyncio.sleep(_wait_of(response, attempt))
            attempt += 1

    def close(self) -> None:
        self._sync.close()

    async def aclose(self) -> None:
        await self._async.aclose()
