import asyncio
import email.utils
import time
import uuid

import httpx

RETRIED = (429, 503)
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


def _name_change(request: httpx.Request) -> None:
    if request.method != "GET" and "idempotency-key" not in request.headers:
        request.headers["idempotency-key"] = str(uuid.uuid4())


class Retrying(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Tries again what may be tried again: a change carries an Idempotency-Key, so that it is made once.

    One transport for both of httpx's clients, because a generated client passes the same arguments to both.
    """

    def __init__(self, retries: int) -> None:
        self._retries = retries
        self._sync = httpx.HTTPTransport()
        self._async = httpx.AsyncHTTPTransport()

    def _is_over(self, response: httpx.Response, attempt: int) -> bool:
        return attempt >= self._retries or response.status_code not in RETRIED

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        _name_change(request)
        attempt = 0
        while True:
            response: httpx.Response | None = None
            try:
                response = self._sync.handle_request(request)
            except httpx.TransportError:
                if attempt >= self._retries:
                    raise
            if response is not None:
                if self._is_over(response, attempt):
                    return response
                response.close()
            time.sleep(_wait_of(response, attempt))
            attempt += 1

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        _name_change(request)
        attempt = 0
        while True:
            response: httpx.Response | None = None
            try:
                response = await self._async.handle_async_request(request)
            except httpx.TransportError:
                if attempt >= self._retries:
                    raise
            if response is not None:
                if self._is_over(response, attempt):
                    return response
                await response.aclose()
            await asyncio.sleep(_wait_of(response, attempt))
            attempt += 1

    def close(self) -> None:
        self._sync.close()

    async def aclose(self) -> None:
        await self._async.aclose()
