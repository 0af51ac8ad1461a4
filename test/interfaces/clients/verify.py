"""Deliveries that nobody signed, by the thousand: what the Python client answers to them."""

import hashlib
import hmac
import importlib.util
import json
import random
import sys
import time

spec = importlib.util.spec_from_file_location("webhooks", "clients/python/rollcall/signatures.py")
webhooks = importlib.util.module_from_spec(spec)
spec.loader.exec_module(webhooks)

secret, payload, signed = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
chance = random.Random(7)

ODD = ["", "v1,", "v1,====", "v1,é", "v1,\ud800", "²", "१२", "1e3", "-1", "nan", "9" * 5_001, None, 1, b"v1,x", ["a"], {}]
SHAPES = [None, 1, "te%t", b"bytes", [], [("a", "b")], {1: 2}, {None: None}, object()]
NAMES = ["webhook-id", "webhook-timestamp", "webhook-signature", "Webhook-Signature", "x"]


def text():
    return "".join(chr(chance.randrange(0x110000)) for _ in range(chance.randrange(20)))


def value():
    return chance.choice([chance.choice(ODD), text(), f"v1,{text()}", str(int(time.time()))])


def headers():
    if chance.random() < 0.1:
        return chance.choice(SHAPES)
    return {name: value() for name in NAMES if chance.random() < 0.8}


forged, raised, secrets = 0, set(), set()
for _ in range(20_000):
    body = chance.choice([payload, payload.encode(), text(), text().encode(errors="replace"), None, 1, []])
    try:
        forged += webhooks.verify_webhook(secret, body, headers()) is not False
    except Exception as error:
        raised.add(type(error).__name__)
for one in [*ODD, *SHAPES, "whsec_", "whsec_%%%", "whsec_é", "not base64!", *(f"é{text()}" for _ in range(500))]:
    try:
        webhooks.verify_webhook(one, payload, signed)
        secrets.add("none")
    except Exception as error:
        secrets.add(type(error).__name__)
right = [
    webhooks.verify_webhook(secret, payload, signed),
    webhooks.verify_webhook(secret, payload.encode(), {name.upper(): one for name, one in signed.items()}),
    webhooks.verify_webhook(secret, payload, {**signed, "webhook-signature": f"v1,x {signed['webhook-signature']}"}),
]
digest = "sha256=" + hmac.new(secret.encode(), payload.encode(), hashlib.sha256).hexdigest()
digests = [webhooks.verify_digest(secret, *one) for one in ((payload, digest), (payload, digest[:-1]), (payload + " ", digest))]
print(json.dumps({"right": right, "digests": digests, "forged": forged, "raised": sorted(raised), "secrets": sorted(secrets)}))
