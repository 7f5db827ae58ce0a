"""Over an account that tenants share, the sender that really goes out is the one that has to be granted.

An account whose settings have a sender of their own does not show the message's: a tenant that was granted another one must
not get through with it, because people would answer a number that is somebody else's.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, cast

from tests.support.ladders import LadderWorld, Worker
from tests.support.people import unused
from tests.support.vendors import MESSAGE
from tidings.contracts.channel_configs import ConfigureAccount
from tidings.contracts.delivery import DeliveryRoute, ReadyStep
from tidings.contracts.messages import Address
from tidings.contracts.senders import SENDERLESS
from tidings.contracts.tenants import Channel
from tidings.router.adapters.registry import ADAPTERS

_SID, _SERVICE = "AC" + "0" * 32, "MG" + "a" * 32
_TWILIO = {"account_sid": _SID, "auth_token": "secret-token-01"}
_VONAGE = {"api_key": "a1b2c3d4", "api_secret": "secret-01"}
_SMPP = {"host": "127.0.0.1", "port": 9, "security": "none", "system_id": "us", "password": "secret"}
_GATEWAY = {"api_url": "https://127.0.0.1:9", "api_token": "secret-token-01"}

#: Kind, channel, settings, the sender that goes out whatever the message says.
FIXED: list[tuple[str, str, dict[str, Any], str]] = [
    ("whatsapp_cloud", "whatsapp", {"phone_number_id": "100000000000001", "access_token": "EAAJB-token-01"}, "100000000000001"),
    ("telegram_bot", "telegram", {"token": "123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11"}, "123456"),
    ("viber", "viber", {"auth_token": "445da6az1s345z78-dazcczb2542zv51a-e0vc5fva17480im9", "bot_id": "pa:75346594275468546724"}, "pa:75346594275468546724"),
    ("twilio", "sms", {**_TWILIO, "sms_from": "+15550100"}, "+15550100"),
    ("twilio", "sms", {**_TWILIO, "messaging_service_sid": _SERVICE}, _SERVICE),
    ("twilio", "whatsapp", {**_TWILIO, "whatsapp_from": "+15550101"}, "+15550101"),
    ("twilio", "whatsapp", {**_TWILIO, "messaging_service_sid": _SERVICE}, _SERVICE),
    ("twilio", "voice", {**_TWILIO, "voice_from": "+15550102"}, "+15550102"),
    ("vonage", "sms", {**_VONAGE, "sms_from": "447700900000"}, "+447700900000"),
    ("smpp", "sms", {**_SMPP, "source": "55512"}, "55512"),
    ("voice_otp_gateway", "voice", {**_GATEWAY, "caller": "+15550103"}, "+15550103"),
]  # fmt: skip
#: Kinds and channels where the message's own sender goes out, with settings that leave it so.
OPEN: list[tuple[str, str, dict[str, Any]]] = [
    ("twilio", "sms", _TWILIO),
    ("vonage", "sms", _VONAGE),
    ("smpp", "sms", _SMPP),
    ("voice_otp_gateway", "voice", _GATEWAY),
    ("http", "sms", {"url": "https://127.0.0.1:9/"}),
    ("smtp", "email", {"host": "127.0.0.1", "port": 9, "security": "none"}),
]
#: They send mail alone, always as the message says.
_MAIL = {"mailgun", "postmark", "sendgrid", "ses"}


def test_every_kind_that_has_senders_is_here() -> None:
    """A new adapter says which sender it really sends as."""
    senders = {name for name, kind in ADAPTERS.items() if kind.channels - SENDERLESS}

    assert {kind for kind, *_ in (*FIXED, *OPEN)} | _MAIL == senders
    assert all(ADAPTERS[name].channels == {"email"} for name in _MAIL)
    fixing = {name for name, kind in ADAPTERS.items() if kind.fixed_sender.__name__ != "no_fixed_sender"}
    assert {kind for kind, *_ in FIXED} == fixing


async def _shared(world: LadderWorld, kind: str, settings: dict[str, Any], handle: str | None = None) -> str:
    """A platform's account: its vendor."""
    vendor = f"{kind}_{unused()[:12]}"
    (world.folder / vendor).write_text(json.dumps(settings))
    command = ConfigureAccount(vendor=vendor, secret_ref=f"file://{vendor}", handle=handle)
    async with world.db.platform() as tx:
        await world.configs.configure_platform(tx, [command], actor="test")
    return vendor


async def _booked(
    world: LadderWorld,
    worker: Worker,
    vendor: str,
    channel: str,
    tries: Sequence[tuple[str, tuple[str, ...]]],
) -> list[bool]:
    """Of messages with these senders, from a tenant with these grants: which are booked."""
    wishes = []
    for sender, grants in tries:
        wish = world.begin(DeliveryRoute(channel=cast("Channel", channel), vendor=vendor))
        assert wish.first is not None
        message = replace(
            wish.first.message, sender=Address(value=sender), to="+4915197000001", grants=grants
        )
        wishes.append(replace(wish, first=ReadyStep(message=message)))
    await world.manual.advance(timedelta(seconds=2))
    return [delivery.reservation is not None for delivery in await worker.booked(world.tenant_id, wishes)]


async def test_a_granted_name_is_no_way_to_another_tenants_number(world: LadderWorld, worker: Worker) -> None:
    """The attack: be granted one sender, name it, and go out as the account's, whose answers are then yours."""
    found, wanted = {}, {}
    for kind, channel, settings, fixed in FIXED:
        # Nobody can answer a call: the account's own number is everybody's there.
        shared = channel == "voice"
        vendor = await _shared(world, kind, settings)
        tries = [
            ("BetaOnly", ("BetaOnly",)),
            ("", ()),
            (fixed, ()),
            (fixed, (fixed,)),
            ("", (fixed,)),
            ("BetaOnly", ("*",)),
        ]
        place = f"{kind}, {channel}, {fixed}"
        found[place] = await _booked(world, worker, vendor, channel, tries)
        wanted[place] = [shared, shared, shared, True, True, True]

    assert found == wanted


async def test_where_nothing_is_fixed_the_messages_sender_has_to_be_granted(
    world: LadderWorld, worker: Worker
) -> None:
    found, wanted = {}, {}
    for kind, channel, settings in OPEN:
        mine, other = ("hi@beta.test", "hi@acme.test") if channel == "email" else ("BetaOnly", "+15550100")
        grants = ("beta.test",) if channel == "email" else (mine,)
        vendor = await _shared(world, kind, settings)
        tries = [(mine, grants), (mine, ()), (other, grants), ("", grants)]
        found[kind] = await _booked(world, worker, vendor, channel, tries)
        wanted[kind] = [True, False, False, False]

    assert found == wanted


async def test_an_own_sender_that_people_can_answer_is_granted_too(
    world: LadderWorld, worker: Worker
) -> None:
    """The account's handle: a number needs a grant, a name and an address do not."""
    number = await _shared(world, "http", {"url": "https://127.0.0.1:9/"}, "+15550199")
    name = await _shared(world, "http", {"url": "https://127.0.0.1:9/"}, "HOUSE")
    mail = await _shared(world, "smtp", {"host": "127.0.0.1", "port": 9, "security": "none"}, "hi@house.test")
    tries = [("", ()), ("", ("15550199",)), ("", ("HOUSE",))]

    assert await _booked(world, worker, number, "sms", tries) == [False, True, False]
    assert await _booked(world, worker, name, "sms", tries) == [True, True, True]
    assert await _booked(world, worker, number, "voice", tries[:1]) == [True]
    assert await _booked(world, worker, mail, "email", tries[:1]) == [True]


async def test_a_secret_that_changes_after_booking_sends_nothing(world: LadderWorld, worker: Worker) -> None:
    """Booked while the message's sender went out; by the time of the call the settings have one of their own."""
    vendor = await _shared(world, "vonage", {**_VONAGE, "api_url": "https://127.0.0.1:9"})
    message = replace(
        MESSAGE, channel="sms", to="+4915197000001", sender=Address(value="BetaOnly"), grants=("BetaOnly",)
    )
    await world.manual.advance(timedelta(seconds=2))
    assert await _booked(world, worker, vendor, "sms", [("BetaOnly", ("BetaOnly",))]) == [True]
    (world.folder / vendor).write_text(json.dumps({**_VONAGE, "sms_from": "447700900000"}))
    await world.manual.advance(timedelta(minutes=2))
    sent = await worker.vendors.send(world.tenant_id, vendor, [message])

    assert [(type(told).__name__, getattr(told, "code", "")) for told in sent.outcomes] == [
        ("TryLater", "sender_unauthorised")
    ]
