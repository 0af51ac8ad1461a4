"""Forty lines of a user: a code is given, an order is reported, and the signed event of its commission comes."""

import json
import sys
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import httpx
from rollcall import RollcallError, answer_of, construct_event, open_rollcall
from rollcall.generated.api.affiliates import create_affiliate_link
from rollcall.generated.api.directory import search_creators
from rollcall.generated.api.orders import report_order
from rollcall.generated.api.roster import add_to_roster
from rollcall.generated.models import AffiliateLinkCreate, CommissionCreatedEvent, ReportedOrder, RosterAdd

base_url, key, secret, port = sys.argv[1:]
client, nowhere = open_rollcall(key, base_url), open_rollcall(key, "http://127.0.0.1:9", retries=1)
failures: list[object] = []


def note(error: RollcallError) -> None:
    failures.append([error.status, error.code, [one.field for one in error.details], error.request_id is not None, error.message != ""])


class Hook(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        try:
            event = construct_event(self.rfile.read(int(self.headers["content-length"])), dict(self.headers), secret)
            if isinstance(event, CommissionCreatedEvent):
                print(json.dumps({"order": event.data.order_id, "commission": event.data.commission, "failures": failures}))
        except RollcallError as error:
            note(error)
        self.send_response(204)
        self.end_headers()


server = HTTPServer(("127.0.0.1", int(port)), Hook)
Thread(target=lambda: httpx.post(f"http://127.0.0.1:{port}/", content="{}", trust_env=False)).start()  # forged
server.handle_request()
for attempt in (
    lambda: answer_of(add_to_roster.sync(client=client, body=RosterAdd(creator_email=""))),
    lambda: answer_of(search_creators.sync(client=nowhere, city="NYC")),
):
    try:
        attempt()
    except RollcallError as error:
        note(error)
answer_of(add_to_roster.sync(client=client, body=RosterAdd(creator_email="ana@day.example")))
code = AffiliateLinkCreate(creator_email="ana@day.example", value="DAYPY", commission_rate=10)
answer_of(create_affiliate_link.sync(client=client, body=code))
now = datetime.now(timezone.utc)
order = ReportedOrder(source="day", order_id="D-1", amount=120, currency="USD", placed_at=now, paid_at=now, codes=["DAYPY"])
answer_of(report_order.sync(client=client, body=order))
server.handle_request()
