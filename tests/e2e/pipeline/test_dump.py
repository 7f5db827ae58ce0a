"""After a run the database is dumped and its files are read: nothing of what was said to whom is in the clear."""

import asyncio
import base64
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import asyncpg
import httpx2
import pytest

from tests.support.running import RunningTidings, wait_until
from tidings.operations.embedded import DataDir, EmbeddedPostgres

pytestmark = pytest.mark.xdist_group("client")

#: What must not be found. Lower case: addresses are kept in one spelling.
PRIVATE = ("address", "name", "phone", "subject", "body", "file", "content", "failed", "later")
#: In the clear by contract; the proof that what is there is found.
OPEN = "metadata"


def _tokens() -> dict[str, str]:
    made = {kind: f"zq{kind}{secrets.token_hex(8)}" for kind in (*PRIVATE, OPEN)}
    # Digits that nobody else has: a number is kept as +93… and its hash.
    made["phone"] = f"7{secrets.randbelow(10**8):08}"
    return made


def _spellings(token: str) -> set[bytes]:
    """As it would look in a text, in a dump of bytes, and inside base64."""
    plain = token.encode()
    found = {plain, token.encode("utf-16-le"), token.encode("utf-16-be"), plain.hex().encode()}
    found.add(plain.hex().upper().encode())
    for shift in range(3):
        whole = base64.b64encode(b"\0" * shift + plain + b"\0" * 3)
        # The letters at the ends also hold bits of the neighbours.
        first, last = -(-shift * 8 // 6), (shift + len(plain)) * 8 // 6
        found.add(whole[first:last])
        found.add(base64.urlsafe_b64encode(base64.b64decode(whole))[first:last])
    return found


def _found(tokens: Mapping[str, str], place: str, data: bytes) -> set[tuple[str, str]]:
    return {
        (kind, place)
        for kind, token in tokens.items()
        if any(spelling in data for spelling in _spellings(token))
    }


def _send_all(tidings: RunningTidings, token: Mapping[str, str]) -> None:
    """Delivered, refused by the vendor, scheduled, by text message, rehearsed; each read afterwards."""
    sandbox = tidings.demo["sandbox_url"]
    with tidings.client() as client:
        first = _order(token["address"], token)
        first["attachments"] = [
            {
                "filename": f"{token['file']}.txt",
                "media_type": "text/plain",
                "content": base64.b64encode(token["content"].encode() * 40).decode(),
            }
        ]
        first["metadata"] = {"note": token[OPEN]}
        sent = [_post(client, first)]
        sms = _order("", token) | {"channel": "sms", "template": "otp", "variables": {"code": "042424"}}
        sms["recipient"] = {"addresses": [{"channel": "sms", "address": f"+93{token['phone']}"}]}
        sent.append(_post(client, sms))
        for id_ in sent:
            wait_until(lambda id_=id_: _status(client, id_) == "delivered", "its delivery")
        httpx2.post(
            f"{sandbox}/faults", json={"adapter": "smtp", "mode": "reject_permanent", "count": 1}
        ).raise_for_status()
        sent.append(_post(client, _order(token["failed"], token)))
        wait_until(lambda: _status(client, sent[-1]) == "failed", "its refusal")
        later = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
        sent.append(_post(client, _order(token["later"], token) | {"scheduled_for": later}))
        assert client.post("/api/v1/notifications/simulate", json=_order(token["address"], token)).is_success
        bulk = {"notifications": [_order(token["address"], token), {"recipient": token["name"]}]}
        assert client.post("/api/v1/notifications/bulk", json=bulk).status_code == 202
        wrong = _order(token["address"], token) | {"variables": {token["body"]: token["subject"]}}
        assert client.post("/api/v1/notifications", json=wrong).status_code == 400
        for id_ in sent:
            for view in ("", "/explain", "/attempts", "/body"):
                client.get(f"/api/v1/notifications/{id_}{view}")
        arrived = httpx2.get(f"{sandbox}/messages").text
        assert token["subject"] in arrived, "the tokens are really in what is sent"
        assert token["body"] in arrived


def _order(address: str, token: Mapping[str, str]) -> dict[str, Any]:
    return {
        "recipient": {
            "identity": {"type": "guest", "id": f"g-{len(address)}-{secrets.token_hex(4)}"},
            "display_name": f"{token['name']} Rahimi",
            "addresses": [{"channel": "email", "address": f"{address}@example.test"}],
        },
        "template": "order_confirmation",
        "channel": "email",
        "variables": {
            "order_number": token["subject"],
            "total": {"amount_micros": 42_500_000, "currency": "USD"},
            "items": [{"name": f"{token['body']} tea", "quantity": 2}],
        },
    }


def _post(client: httpx2.Client, body: dict[str, Any]) -> str:
    answer = client.post(
        "/api/v1/notifications", json=body, headers={"Idempotency-Key": secrets.token_hex(8)}
    )
    assert answer.status_code == 202, answer.text
    id_: str = answer.json()["id"]
    return id_


def _status(client: httpx2.Client, id_: str) -> str:
    status: str = client.get(f"/api/v1/notifications/{id_}").json()["status"]
    return status


async def _dump(owner_url: str) -> dict[str, bytes]:
    """Every row of every table, as the role that may read everything sees it."""
    connection = await asyncpg.connect(owner_url)
    try:
        await connection.execute("SET ROLE tidings_breakglass")
        tables = await connection.fetch(
            "SELECT format('%I.%I', n.nspname, c.relname) AS name "
            "FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace "
            "WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition "
            "AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_%'"
        )
        dumped: dict[str, bytes] = {}
        for row in tables:
            rows = await connection.fetch(f"SELECT t::text AS line FROM {row['name']} AS t")
            dumped[row["name"]] = "\n".join(one["line"] for one in rows).encode()
        return dumped
    finally:
        await connection.close()


def _files(data_dir: Path) -> set[Path]:
    """Each once, wherever the cluster is."""
    places = (data_dir, (data_dir / "postgres").resolve())
    return {file.resolve() for place in places for file in place.rglob("*") if file.is_file()}


def test_nothing_private_is_in_the_clear(used_dir: Path) -> None:
    """Not in a table, not in a file of the data dir, not in a log, not in the metrics; and the search finds what is there."""
    tokens = _tokens()
    with RunningTidings(used_dir) as tidings:
        _send_all(tidings, tokens)
        server = EmbeddedPostgres(DataDir(used_dir))
        server.attach()
        dumped = asyncio.run(_dump(server.url("tidings_owner")))
        metrics = httpx2.get(f"{tidings.demo['base_url']}/metrics")
        assert metrics.status_code == 200
        # A clean end writes everything to the files.
        assert tidings.stop() == 0
        said = tidings.output.encode()
    assert len(dumped) > 40
    assert dumped["notification.notifications"].count(b"ntf_") >= 5

    found = {hit for table, rows in dumped.items() for hit in _found(tokens, table, rows)}
    in_files = {hit for file in _files(used_dir) for hit in _found(tokens, str(file), file.read_bytes())}
    talk = _found(tokens, "log", said) | _found(tokens, "metrics", metrics.content)

    assert (OPEN, "notification.notifications") in found
    assert any(kind == OPEN for kind, _ in in_files)
    private = {hit for hit in found | in_files | talk if hit[0] != OPEN}
    assert private == set()


@pytest.mark.parametrize("shift", range(3))
def test_the_search_knows_every_spelling(shift: int) -> None:
    """A token inside base64 at any place, in UTF-16, as hex."""
    token = "zqsomething1234"
    inside = b"\xff" * shift + token.encode() + b"\xfe" * 5

    for data in (
        inside,
        base64.b64encode(inside),
        base64.urlsafe_b64encode(inside),
        inside.hex().encode(),
        token.encode("utf-16-le"),
    ):
        assert _found({"kind": token}, "here", b"..." + data + b"...") == {("kind", "here")}
    assert _found({"kind": token}, "here", b"zqsomethingelse") == set()
