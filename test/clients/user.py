import json
import sys

site, base_url, key, secret, payload, signed = sys.argv[1:]
sys.path.insert(0, site)

from rollcall import RollcallError, answer_of, every_item, open_rollcall, verify_webhook
from rollcall.generated.api.campaigns import create_campaign, get_campaign, list_campaigns
from rollcall.generated.models import CampaignCreate

client = open_rollcall(key, base_url)
for name in ("One", "Two", "Three"):
    answer_of(create_campaign.sync(client=client, body=CampaignCreate(name=name)))
titles = [one.title for one in every_item(lambda page: list_campaigns.sync(client=client, page=page, limit=2))]
code = None
try:
    answer_of(get_campaign.sync("cmp_none", client=client))
except RollcallError as error:
    code = str(error.code.value)
headers = json.loads(signed)
print(
    json.dumps(
        {
            "titles": titles,
            "code": code,
            "isSigned": verify_webhook(secret, payload.encode(), headers),
            "isForged": verify_webhook(secret, f"{payload} ".encode(), headers),
        }
    )
)
