"""A filter as SQL means what it means in Python, whatever is asked of whomever."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.integration.batches.arranging import HOME, crowd, wish, write
from tests.support.people import rows, unused
from tests.support.pipeline import PipelineWorld
from tidings.kernel.ids import TenantId
from tidings.notify.batches import store
from tidings.notify.batches.filter import read_filter, scope_of
from tidings.notify.batches.model import BatchAudience, BatchStatus, StoredBatch
from tidings.notify.ids import BATCH
from tidings.notify.recipients.model import IdentityType
from tidings.notify.recipients.recipient_input import AddressInput, IdentityInput, RecipientInput, spec_of

TAGS = ["vip", "eu", "staff", "a", "b:c"]
LOCALES = ["fr", "fr-CA", "en-US", "zh-Hant-TW", "zh-TW", "pt-BR"]
ZONES = ["UTC", "Europe/Paris", "Asia/Kabul"]
TEXTS = ["", "x", "gold", "gold star", "Ünïcode", "it's", "2", "true", "Z", "a"]
NUMBERS: list[Any] = [0, 1, 2, 2.5, -3, 10**12, 0.1]
NAMES = ["tier", "nights", "odd-name", "list", "deep"]


def _value(luck: random.Random, depth: int = 0) -> Any:
    kind = luck.randrange(7 if depth < 2 else 5)
    match kind:
        case 0 | 1:
            return luck.choice(TEXTS)
        case 2:
            return luck.choice(NUMBERS)
        case 3:
            return luck.choice([True, False])
        case 4:
            return None
        case 5:
            return [_value(luck, depth + 1) for _ in range(luck.randrange(4))]
        case _:
            return {luck.choice(NAMES): _value(luck, depth + 1) for _ in range(luck.randrange(3))}


def _literal(luck: random.Random, *kinds: str) -> str:
    kind = luck.choice(kinds or ("text", "number", "bool"))
    if kind == "text":
        return "'" + luck.choice(TEXTS).replace("'", "''") + "'"
    return repr(luck.choice(list(NUMBERS))) if kind == "number" else luck.choice(["true", "false"])


def _test(luck: random.Random) -> str:
    def quoted(words: list[str]) -> str:
        return f"'{luck.choice(words)}'"

    match luck.randrange(12):
        case 0:
            return (
                f"tag {luck.choice(['=', '!=', 'contains', 'starts with', '<', '>='])} {quoted([*TAGS, 'v'])}"
            )
        case 1:
            return f"tag {luck.choice(['in', 'not in'])} ({quoted(TAGS)}, {quoted(TAGS)})"
        case 2:
            return f"locale {luck.choice(['=', '!=', 'starts with', 'contains'])} {quoted([*LOCALES, 'zh', 'en', 'f'])}"
        case 3:
            return f"timezone {luck.choice(['=', '!=', '<', 'contains', 'starts with'])} {quoted([*ZONES, 'Europe', ''])}"
        case 4:
            return f"identity.id {luck.choice(['=', '!=', 'starts with', '>', 'contains'])} {quoted(['p-1', 'p-', 'p-2', 'q'])}"
        case 5:
            return f"identity.type {luck.choice(['=', '!='])} {quoted(['guest', 'user', 'anonymous'])}"
        case 6:
            return f"channel {luck.choice(['=', '!='])} {quoted(['email', 'sms', 'push'])}"
        case 7:
            field = luck.choice(["tag", "channel", "identity.id", "locale", "created_at", "timezone"])
            return f"{field} is {luck.choice(['', 'not '])}null"
        case 8:
            return f"created_at {luck.choice(['<', '>=', '=', '!='])} {quoted(['2020-01-01', '2026-11-15T12:00Z', '2027-01-01'])}"
        case _:
            return _attribute_test(luck)


def _attribute_test(luck: random.Random) -> str:
    step = luck.choice(["", "", "[0]", "[1]", ".deep", ".nights", "['odd-name']", "['0']"])
    field = f"attributes.{luck.choice(NAMES)}{step}"
    match luck.randrange(6):
        case 0:
            return f"{field} is {luck.choice(['', 'not '])}null"
        case 1:
            return f"{field} {luck.choice(['in', 'not in'])} ({_literal(luck)}, {_literal(luck)})"
        case 2:
            return f"{field} starts with {_literal(luck, 'text')}"
        case 3:
            return f"{field} contains {_literal(luck)}"
        case 4:
            return f"{field} {luck.choice(['<', '<=', '>', '>='])} {_literal(luck, 'text', 'number')}"
        case _:
            return f"{field} {luck.choice(['=', '!='])} {_literal(luck)}"


def _condition(luck: random.Random, depth: int = 0) -> str:
    if depth > 2 or luck.random() < 0.5:
        return _test(luck)
    match luck.randrange(3):
        case 0:
            return f"not ({_condition(luck, depth + 1)})"
        case 1:
            return f"({_condition(luck, depth + 1)}) and ({_condition(luck, depth + 1)})"
        case _:
            return f"({_condition(luck, depth + 1)}) or ({_condition(luck, depth + 1)})"


async def _people(
    world: PipelineWorld, tenant_id: TenantId, luck: random.Random, count: int
) -> list[dict[str, Any]]:
    """So many people, and each as a condition sees them."""
    specs = []
    for number in range(count):
        channels = luck.sample(["email", "sms"], luck.randrange(1, 3))
        where = {"email": f"{unused()}-{number}@example.test", "sms": f"+9370{number:07}"}
        nameless = luck.random() < 0.2
        kinds = [IdentityType.GUEST, IdentityType.USER]
        given: dict[str, Any] = (
            {} if nameless else {"identity": IdentityInput(type=luck.choice(kinds), id=f"p-{number}")}
        )
        specs.append(
            spec_of(
                RecipientInput(
                    addresses=[AddressInput(channel=c, address=where[c]) for c in channels],  # type: ignore[arg-type]
                    tags=luck.sample(TAGS, luck.randrange(4)),
                    locale=luck.choice(LOCALES),
                    timezone=luck.choice(ZONES),
                    attributes={luck.choice(NAMES): _value(luck) for _ in range(luck.randrange(4))},
                    **given,
                )
            )
        )
    async with world.db.tenant(tenant_id) as tx:
        await world.system.accept.upserter.upsert(tx, specs)
    return await rows(
        world.db,
        tenant_id,
        "SELECT r.id, r.tags, r.primary_locale AS locale, r.primary_timezone AS timezone, r.identity_type, r.identity_id, "
        "r.attributes, r.created_at, ARRAY(SELECT DISTINCT a.channel FROM notification.recipient_addresses AS a "
        "WHERE a.tenant_id = r.tenant_id AND a.recipient_id = r.id) AS channels FROM notification.recipients AS r",
    )


def _batch(tenant_id: TenantId, condition: str) -> StoredBatch:
    now = datetime(2027, 1, 1, tzinfo=UTC)
    return StoredBatch(
        tenant_id=tenant_id, id=BATCH.new(now), name="x", status=BatchStatus.DRAFT, template_key="t", channel="email",
        category="c", priority="low", audience=BatchAudience(filter=condition), variables_ciphertext=b"", scheduled_for=None,
        local_time=None, window=None, pacing=None, variants=(), needs_approval=False, created_by="x", changed_by="x",
        created_at=now, updated_at=now, version=1,
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
async def test_sql_and_python_agree(world: PipelineWorld, seed: int) -> None:
    import msgspec

    luck = random.Random(seed)
    tenant_id = await world.tenant()
    people = await _people(world, tenant_id, luck, 60)
    scopes = {
        one["id"]: scope_of(
            **{
                name: one[name]
                for name in (
                    "tags",
                    "locale",
                    "timezone",
                    "identity_type",
                    "identity_id",
                    "channels",
                    "created_at",
                )
            },
            attributes=msgspec.json.decode(one["attributes"]),
        )
        for one in people
    }
    assert len(scopes) == 60

    matched = 0
    async with world.db.tenant(tenant_id) as tx:
        for _ in range(300):
            condition = _condition(luck)
            expression = read_filter(condition)
            expected = {id_ for id_, scope in scopes.items() if expression.matches(scope)}
            matched += bool(expected)

            batch = _batch(tenant_id, condition)
            as_of = datetime(2027, 1, 1, tzinfo=UTC)
            found = await store.next_people(tx, batch, as_of=as_of, limit=1000)
            count = await store.count_people(tx, batch, as_of=as_of)

            assert {one.recipient_id for one in found} == expected, condition
            assert count == len(expected), condition
    assert matched > 100


async def test_erased_people_are_never_in_it(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        ids = await crowd(world, sender.tenant_id, 3, tags=["vip"])
        erased = await sender.client.post(f"/api/v1/recipients/{ids[0]}/erase", json={})
        assert erased.status_code == 200, erased.text
        batch = await write(sender, filter="created_at >= '1970-01-01'")

        await batch.do("start")
        await world.settle()

        assert {line["recipient_id"] for line in await batch.people()} == set(ids[1:])


async def test_a_page_begins_behind_the_last_one(world: PipelineWorld) -> None:
    """By the key, and not by counting rows: nobody is read twice."""
    tenant_id = await world.tenant()
    ids = sorted(await crowd(world, tenant_id, 25, tags=["vip"]))
    batch = _batch(tenant_id, "tag = 'vip'")
    seen: list[str] = []
    import msgspec

    async with world.db.tenant(tenant_id) as tx:
        while page := await store.next_people(
            tx, batch, as_of=world.clock.now() + timedelta(days=60), limit=10
        ):
            seen += [one.recipient_id for one in page]
            batch = msgspec.structs.replace(batch, walked_to=seen[-1])

    assert seen == ids


async def test_a_mistake_in_a_filter_is_pointed_at(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        answer = await sender.client.post(HOME, json=wish(filter="tag = 'vip' and colour = 'red'"))

        problem = answer.json()
        assert (answer.status_code, problem["errors"][0]["field"]) == (400, "filter")
        told, line, caret = problem["errors"][0]["remedy"].splitlines()
        assert "there is no field colour here" in told
        assert line[caret.index("^") :].startswith("colour")


async def test_a_value_stays_a_value(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        await crowd(world, sender.tenant_id, 2, tags=["vip"])

        for evil in ("x'' or 1=1 --", "$1", "'' ) OR (TRUE", "%", "\\"):
            preview = await sender.client.post(f"{HOME}/preview", json=wish(filter=f"tag = '{evil}'"))

            assert (preview.status_code, preview.json().get("count")) == (200, 0), preview.text
