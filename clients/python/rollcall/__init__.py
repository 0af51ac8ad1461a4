"""A typed client of the Rollcall API. Operations are in `rollcall.generated.api`, a module each."""

from .client import Page, answer_of, every_item, every_item_async, fill_list, open_rollcall
from .errors import ClientErrorCode, Problem, RollcallError
from .generated.events import RollcallEvent
from .signatures import WebhookSecretError, verify_webhook
from .walk import walk
from .webhooks import OtherEvent, construct_event

__all__ = [
    "ClientErrorCode",
    "OtherEvent",
    "Page",
    "Problem",
    "RollcallError",
    "RollcallEvent",
    "WebhookSecretError",
    "answer_of",
    "construct_event",
    "every_item",
    "every_item_async",
    "fill_list",
    "open_rollcall",
    "verify_webhook",
    "walk",
]
