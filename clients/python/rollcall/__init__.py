"""A typed client of the Rollcall API. Operations are in `rollcall.generated.api`, a module each."""

from .client import RollcallError, answer_of, every_item, open_rollcall
from .webhooks import verify_webhook

__all__ = ["RollcallError", "answer_of", "every_item", "open_rollcall", "verify_webhook"]
