import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .errors import RollcallError
from .generated.events import EVENTS, RollcallEvent
from .signatures import WebhookSecretError, verify_digest, verify_webhook


@dataclass(frozen=True)
class OtherEvent:
    """An event that is newer than this package."""

    event: str
    body: Mapping[str, Any]


def _read(body: bytes | str) -> Mapping[str, Any]:
    try:
        event = json.loads(body)
    except ValueError:
        event = None
    if not isinstance(event, dict) or not isinstance(event.get("event"), str):
        raise RollcallError("UNREADABLE", "The delivery is signed, but is no event.")
    return event


def construct_event(body: bytes | str, header: Mapping[str, str] | str, secret: str) -> RollcallEvent | OtherEvent:
    """The event of a delivery; a RollcallError for anything that was not signed with the secret.

    `body` is raw, before it is parsed. `header` is the delivery's headers: they say when it was sent, and one older than
    five minutes is refused. The value of `X-Service-Signature` alone does, too, but has no time.
    """
    try:
        is_signed = verify_digest(secret, body, header) if isinstance(header, str) else verify_webhook(secret, body, header)
    except WebhookSecretError as error:
        raise RollcallError("WEBHOOK_SECRET", str(error)) from error
    if not is_signed:
        when = "" if isinstance(header, str) else " in the last five minutes"
        raise RollcallError("WEBHOOK_SIGNATURE", f"The delivery was not signed with this secret{when}.")
    event = _read(body)
    known = EVENTS.get(event["event"])
    if known is None:
        return OtherEvent(event["event"], event)
    try:
        return known.from_dict(event)
    except (KeyError, TypeError, ValueError) as error:
        raise RollcallError("UNREADABLE", f"{event['event']} has another shape than this package knows: {error}") from error
