"""A typed client of the Rollcall API. Operations are in `rollcall.generated.api`, a module each."""

from .client import Page, RollcallError, answer_of, every_item, every_item_async, fill_list, open_rollcall
from .walk import walk
from .webhooks import WebhookSecretError, verify_webhook

__all__ = [
    "Page",
    "RollcallError",
    "WebhookSecretError",
    "answer_of",
    "every_item",
    "every_item_async",
    "fill_list",
    "open_rollcall",
    "verify_webhook",
    "walk",
]
