import asyncio
import email.utils
import time
import uuid
from collections.abc import AsyncIterator, Iterator

import httpx

from .errors import error_from, network_error

# A proxy answers 502 and 504 for an API that it did not reach.
RETRIED = (429, 502, 503, 504)
LONGEST_WAIT_S = 60.0


def _seconds_until(date: str) -> float | None:
    try:
        return email.utils.parsedate_to_datetime(date).timestamp() - time.time()
    except ValueError:
        return None


def _wait_of(response: httpx.Response | None, attempt: int) -> float:
    """What the server asks for, in seconds or as a date; else twice as long each time."""
    asked = response.headers.get("retry-after") if response else None
    seconds: float | None = None
    if asked is not None:
        is_number = asked.isascii() and asked.replace(".", "", 1).isdigit()
        seconds = float(asked) if is_number else _seconds_until(asked)
    if seconds is None:
        seconds = 0.25 * 2**attempt
    return min(max(seconds, 0.0), LONGEST_WAIT_S)


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
        self._sync = httpx.HTTPTransport()
        self._async = httpx.AsyncHTTPTransport()

    def _is_over(self, response: httpx.Response, attempt: int) -> bool:
        return attempt >= self._retries or response.status_code not in RETRIED

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        _name(request)
        attempt = 0
        while True:
            response: httpx.Response | None = None
            try:
                response = self._sync.handle_request(request)
                if _is_json(response):
                    response.read()
            except httpx.TransportError as error:
                response = None
                if attempt >= self._retries:
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
        attempt = 0
        while True:
            response: httpx.Response | None = None
            try:
                response = await self._async.handle_async_request(request)
                if _is_json(response):
                    await response.aread()
            except httpx.TransportError as error:
                response = None
                if attempt >= self._retries:
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
