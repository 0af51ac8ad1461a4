"""A program of a user: checked with mypy --strict against the installed package, then run."""

import asyncio
import json
import sys

from rollcall import RollcallError, answer_of, every_item, every_item_async, open_rollcall, verify_webhook, walk
from rollcall.generated.api.campaigns import create_campaign, create_campaign_plan, get_campaign, list_campaigns
from rollcall.generated.api.directory import search_creators
from rollcall.generated.models import CampaignCreate

base_url, key, secret, payload, signed = sys.argv[1:]
client = open_rollcall(key, base_url)

made: list[str] = []
for name in ("One", "Two", "Three"):
    campaign = answer_of(create_campaign.sync(client=client, body=CampaignCreate(name=name, type_="ugc"))).data
    made.append(f"{campaign.title} {campaign.status}")

plan = answer_of(create_campaign_plan.sync(client=client, body=CampaignCreate(name="Four"))).data
changes: list[str] = [",".join(change.to_dict()) for change in plan.changes]

titles: list[str] = [one.title for one in every_item(lambda page: list_campaigns.sync(client=client, page=page, limit=2))]


async def titles_by_asyncio() -> list[str]:
    pages = every_item_async(lambda page: list_campaigns.asyncio(client=client, page=page, limit=2))
    return [one.title async for one in pages]


found = answer_of(search_creators.sync(client=client, city="NYC", limit=5))
followers: int = sum(creator.follower_count or 0 for creator in found.data)

code = "none"
try:
    answer_of(get_campaign.sync("cmp_none", client=client))
except RollcallError as error:
    code = error.code

walked: list[int] = [creator.pk for creator in walk(client, country="US")]
is_walked = len(walked) == 1_500 and len(set(walked)) == 1_500

headers: dict[str, str] = json.loads(signed)
is_signed = [verify_webhook(secret, payload, headers), verify_webhook(secret, payload.encode(), headers)]
is_forged = verify_webhook(secret, f"{payload} ", headers)
is_same = titles == asyncio.run(titles_by_asyncio())
seen = {"made": made, "changes": changes, "titles": titles, "found": [found.pagination.total >= 0, followers >= 0], "code": code}
print(json.dumps({**seen, "isWalked": is_walked, "isSigned": is_signed, "isForged": is_forged, "isSameAsync": is_same}))
