import base64
import binascii
import hashlib
import hmac
import re
import time
from collections.abc import Mapping

TOLERANCE_S = 300


class WebhookSecretError(ValueError):
    """The only error of `verify_webhook`: the secret passed to it is not one."""

    def __init__(self) -> None:
        super().__init__("The secret of a webhook is `whsec_` followed by base64, as POST /v1/webhooks answered it.")


def _key_of(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except (AttributeError, TypeError, ValueError, binascii.Error):
        key = b""
    if not key:
        raise WebhookSecretError
    return key


def _headers_of(headers: Mapping[str, str]) -> dict[str, str]:
    try:
        return {str(name).lower(): value for name, value in headers.items() if isinstance(value, str)}
    except (AttributeError, TypeError, ValueError):
        return {}


def _bytes_of(payload: bytes | str) -> bytes | None:
    body = payload.encode(errors="replace") if isinstance(payload, str) else payload
    return bytes(body) if isinstance(body, (bytes, bytearray, memoryview)) else None


def verify_webhook(secret: str, payload: bytes | str, headers: Mapping[str, str]) -> bool:
    """Whether a delivery was signed with the webhook's secret and is not older than five minutes.

    False for any other request, however malformed. `payload` is the raw body, before it is parsed. Raises
    WebhookSecretError for a `secret` that is not one.
    """
    key = _key_of(secret)
    known = _headers_of(headers)
    at = known.get("webhook-timestamp", "")
    if re.fullmatch("[0-9]{1,15}", at) is None or abs(time.time() - int(at)) > TOLERANCE_S:
        return False
    body = _bytes_of(payload)
    if body is None:
        return False
    signed = f"{known.get('webhook-id', '')}.{at}.".encode(errors="replace") + body
    right = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    given = known.get("webhook-signature", "").encode(errors="replace").split(b" ")
    return any(hmac.compare_digest(right, one) for one in given)


def verify_digest(secret: str, payload: bytes | str, signature: str) -> bool:
    """Whether `X-Service-Signature` is of this body. It has no time, so a delivery that is sent again is genuine, too."""
    body = _bytes_of(payload)
    if body is None or not isinstance(secret, str) or not secret:
        return False
    right = "sha256=" + hmac.new(secret.encode(errors="replace"), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(right.encode(), signature.strip().encode(errors="replace"))
