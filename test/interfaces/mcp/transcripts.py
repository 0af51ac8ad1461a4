"""The official Python client does the ten tasks of test/fixtures/agent-tasks; prints the exchanges that go another way."""

import asyncio
import json
import re
import sys
from pathlib import Path

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

base, brand_key, data_key, owner = sys.argv[1:]
EXCHANGE = re.compile(r"^(→ \w+|Person \w+ \S+) (\{.*\})\n([←✗]) (.+)$", re.M)
values = {"$owner": owner}


def contains(answer, shown):
    """As in test/harness/transcript.ts: names take a value once, a list has the shown items in their order."""
    if isinstance(shown, str) and shown.startswith("$"):
        return values.setdefault(shown, answer) == answer
    if isinstance(shown, list):
        items = iter(answer)
        return (shown != [] or answer == []) and all(any(contains(item, one) for item in items) for one in shown)
    if isinstance(shown, dict):
        return isinstance(answer, dict) and all(contains(answer.get(name), one) for name, one in shown.items())
    return answer == shown


def filled(text):
    return re.sub(r"\$\w+", lambda name: values.get(name[0], name[0]), text)


def connect(key):
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=60)
    return Client(streamable_http_client(f"{base}/mcp", http_client=http))


async def exchange(client, person, head, args):
    kind, name, *rest = head.split(" ")
    if kind == "Person":
        answer = await person.request(name, f"{base}{rest[0]}", json=args)
        return answer.status_code >= 400, answer.json()
    result = await client.call_tool(name, args)
    return bool(result.is_error), json.loads(result.content[0].text)


async def main():
    wrong = []
    done = 0
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {brand_key}"}) as person:
        for file in sorted(Path("test/fixtures/agent-tasks").glob("*.txt")):
            text = file.read_text()
            async with connect(data_key if "With   the data key" in text else brand_key) as client:
                for head, args, sign, has in EXCHANGE.findall(text):
                    is_refused, answer = await exchange(client, person, filled(head), json.loads(filled(args)))
                    if is_refused != (sign == "✗") or not contains(answer, json.loads(has)):
                        wrong.append([file.name, head, answer])
                    done += 1
    print(json.dumps({"done": done, "wrong": wrong}))


asyncio.run(main())
