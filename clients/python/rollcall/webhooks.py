import base64
import hashlib
import hmac
import time
from collections.abc import Mapping

TOLERANCE_S = 300


def verify_webhook(secret: str, payload: bytes, headers: Mapping[str, str]) -> bool:
    """Whether a delivery was signed with the webhook's secret and is not older than five minutes."""
    known = {name.lower(): value for name, value in headers.items()}
    at = known.get("webhook-timestamp", "")
    if not at.isdigit() or abs(time.time() - int(at)) > TOLERANCE_S:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{known.get('webhook-id', '')}.{at}.".encode() + payload
    right = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    given = known.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(f"v1,{right}", one) for one in given)
