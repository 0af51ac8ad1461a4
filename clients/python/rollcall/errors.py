from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

import httpx

from .generated.models import ErrorCode

# What failed on this side: no answer came, an answer or event is not the API's, or a delivery is not Rollcall's.
ClientErrorCode: TypeAlias = Literal["NETWORK_ERROR", "UNREADABLE", "WEBHOOK_SIGNATURE", "WEBHOOK_SECRET"]


@dataclass(frozen=True)
class Problem:
    """One problem with one field."""

    field: str
    code: str
    message: str


class RollcallError(Exception):
    """Anything that failed: a refusal of the API's, a broken connection, a forged delivery. Branch on `code`."""

    def __init__(
        self,
        code: ErrorCode | ClientErrorCode,
        message: str,
        status: int = 0,
        request_id: str | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        # 0 where no answer came.
        self.status = status
        # Of the answer, or as it was sent.
        self.request_id = request_id
        # The whole body: `credits_remaining`, `plan_id` and what else a code adds.
        self.body: Mapping[str, Any] = body or {}
        self.details = [Problem(one["field"], one["code"], one["message"]) for one in self.body.get("details") or []]

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


def refusal_from(body: Mapping[str, Any], status: int) -> RollcallError:
    """The error of a refusal's body."""
    code = cast(ErrorCode, body["code"])
    return RollcallError(code, str(body["error"]), status, body.get("request_id"), body)


def error_from(response: httpx.Response) -> RollcallError:
    """The error of an answer of 400 or more, which may be of a proxy and no JSON."""
    try:
        body = response.json()
    except ValueError:
        body = None
    if isinstance(body, dict) and "code" in body and "error" in body:
        return refusal_from(body, response.status_code)
    message = f"The answer {response.status_code} is not the API's: {response.text[:200]}"
    return RollcallError("UNREADABLE", message, response.status_code, response.headers.get("x-request-id"))


def network_error(cause: Exception, request: httpx.Request) -> RollcallError:
    """The error of a call whose answer did not come, or not whole."""
    reason = str(cause) or type(cause).__name__
    message = f"{request.method} {request.url.host} got no whole answer: {reason}"
    return RollcallError("NETWORK_ERROR", message, 0, request.headers.get("x-request-id"))
