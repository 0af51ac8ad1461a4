from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

from .errors import RollcallError, refusal_from
from .generated.client import AuthenticatedClient
from .generated.models import Error, Pagination
from .retries import Retrying

Answer = TypeVar("Answer")
Item = TypeVar("Item")
PageItem = TypeVar("PageItem", covariant=True)


class Page(Protocol[PageItem]):
    """The answer of a list."""

    @property
    def data(self) -> Sequence[PageItem]: ...

    @property
    def pagination(self) -> Pagination: ...


class Added(Protocol):
    """How many creators are new on a list."""

    @property
    def added(self) -> int: ...


class AddedAnswer(Protocol):
    """The answer of adding creators to a list."""

    @property
    def data(self) -> Added: ...


def open_rollcall(key: str, base_url: str, retries: int = 3) -> AuthenticatedClient:
    """A client for every operation: `list_campaigns.sync(client=client)`, or `await list_campaigns.asyncio(client=client)`.

    A call that fails raises a RollcallError.
    """
    return AuthenticatedClient(base_url=base_url.rstrip("/"), token=key, httpx_args={"transport": Retrying(retries)})


def answer_of(answer: Answer | Error | None) -> Answer:
    """The answer of a call, typed without what the call itself raises as a RollcallError."""
    if isinstance(answer, Error):
        raise refusal_from(answer.to_dict(), 0)
    if answer is None:
        raise RollcallError("UNREADABLE", "The API's answer could not be read.")
    return answer


def every_item(list_page: Callable[[int], Page[Item] | Error | None]) -> Iterator[Item]:
    """Every item of a list: `every_item(lambda page: list_campaigns.sync(client=client, page=page))`."""
    page = 1
    while True:
        answer = answer_of(list_page(page))
        yield from answer.data
        if not answer.pagination.has_more:
            return
        page += 1


async def every_item_async(list_page: Callable[[int], Awaitable[Page[Item] | Error | None]]) -> AsyncIterator[Item]:
    """Every item of a list: `every_item_async(lambda page: list_campaigns.asyncio(client=client, page=page))`."""
    page = 1
    while True:
        answer = answer_of(await list_page(page))
        for item in answer.data:
            yield item
        if not answer.pagination.has_more:
            return
        page += 1


LISTED_AT_ONCE = 1_000


def fill_list(creators: Iterable[Item], add: Callable[[list[Item]], AddedAnswer | Error | None]) -> int:
    """Puts the creators of an iterator on a list, 1,000 a call, and returns how many are new on it:
    `fill_list(pks, lambda some: add_to_list.sync(id, client=client, body=CreatorsToAdd(pks=some)))`."""
    added = 0
    some: list[Item] = []
    for creator in creators:
        some.append(creator)
        if len(some) == LISTED_AT_ONCE:
            added += answer_of(add(some)).data.added
            some = []
    if some:
        added += answer_of(add(some)).data.added
    return added
