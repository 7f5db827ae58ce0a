"""What every adapter promises about callbacks and about its own declaration."""

import random
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from tests.conformance.adapters.player import Example, Player
from tests.conformance.adapters.questions import question
from tests.support.vendors import KnownSecrets
from tidings.contracts.callback_forms import (
    CallbackForm,
    Keys,
    ParsedCallback,
    RawCallback,
    UnverifiedCallback,
    VerifiedCallback,
)
from tidings.kernel.errors import TidingsError
from tidings.kernel.refusals import InvalidError
from tidings.router.adapters.registry import ADAPTERS, read_account


@question("The vendor's signed examples verify")
async def test_signed_examples_verify(player: Player) -> None:
    """As the vendor documents them, or as they were recorded."""
    assert bool(player.examples) == (ADAPTERS[player.name].callbacks is not None)
    async for example, form, keys in _examples(player):
        assert isinstance(await form.verify(example.request, keys), VerifiedCallback), example.source


@question("One byte changed, and it is refused")
async def test_one_byte_changed_is_refused(player: Player) -> None:
    """In all that the vendor's proof covers."""
    async for example, form, keys in _examples(player):
        for place in example.covered:
            found = await _verified(form, changed(example.request, place), keys)

            assert isinstance(found, UnverifiedCallback), (example.source, place)
            assert found.remedy


@question("Unsigned is refused, and so is a proof of long ago where it has a time")
async def test_unsigned_and_stale_is_refused(player: Player) -> None:
    """With words that say which."""
    async for example, form, keys in _examples(player):
        kept = {"content-type": example.request.headers.get("content-type", ["application/json"])}
        bare = replace(example.request, headers=kept, url=example.request.url.partition("?")[0])
        if set(example.covered) != {"body"}:
            assert isinstance(await _verified(form, bare, keys), UnverifiedCallback), example.source
        if example.window is not None:
            for off in (example.window + timedelta(seconds=2), -example.window - timedelta(seconds=2)):
                late = replace(example.request, received_at=example.request.received_at + off)
                found = await _verified(form, late, keys)

                assert isinstance(found, UnverifiedCallback), (example.source, off)
                assert found.code == "stale", (example.source, off)


@question("Callbacks are read as they are meant, the same each time")
async def test_callbacks_are_read(player: Player) -> None:
    """What is told again is known by its id, its word and its time."""
    async for example, form, keys in _examples(player):
        first = form.read(example.request, keys)
        later = replace(example.request, received_at=example.request.received_at + timedelta(hours=1))

        assert _plain(first) == _plain(example.reading), example.source
        assert _plain(form.read(later, keys)) == _plain(first), example.source
        told = [(e.vendor_message_id, e.word, e.discriminator) for e in first.events]
        assert max(Counter(told).values(), default=1) == 1


@question("Nothing makes its reader fall, and what it reads shows nobody")
async def test_nothing_makes_the_reader_fall(player: Player) -> None:
    """Whatever comes is read or refused in words."""
    dice = random.Random(7)
    async for example, form, keys in _examples(player):
        for _ in range(60):
            broken = bytearray(example.request.body or b"{}")
            for _ in range(dice.randint(1, 6)):
                at = dice.randrange(len(broken))
                broken[at : at + dice.randint(0, 4)] = bytes(
                    dice.choices(b'{}[]",:0129aeE-.\\\x00\xff%&=+', k=dice.randint(0, 4))
                )
                broken = broken or bytearray(b"x")
            request = replace(example.request, body=bytes(broken))
            with suppress(TidingsError):
                await form.verify(request, keys)
            with suppress(TidingsError):
                form.read(request, keys)
        shown = repr(form.read(example.request, keys))
        for one in example.reading.inbound:
            assert one.sender not in shown
            assert not one.text or one.text not in shown


@question("Unknown settings are refused by name, and settings show no secret")
async def test_settings_are_strict(player: Player) -> None:
    """A misspelt setting is no setting."""
    kind = ADAPTERS[player.name]
    async with player.play("unreachable") as settings:
        read = await read_account(player.name, settings, KnownSecrets())
        with pytest.raises(InvalidError) as refused:
            await read_account(player.name, {**settings, "tiemout": 1}, KnownSecrets())

    assert "tiemout" in str(refused.value) or any("tiemout" in e.field for e in refused.value.errors)
    shown = repr(read.settings)
    secrets = {
        value
        for name in kind.credential_fields
        if isinstance(value := getattr(read.settings, name.partition("[")[0], None), str)
    }
    assert [secret for secret in secrets if secret in shown] == []
    assert kind.main_credential.partition(".")[0] in read.settings.__struct_fields__


@question("Its codes have one meaning each")
async def test_codes_have_one_meaning(player: Player) -> None:
    """The status map is seeded with them."""
    codes = Counter(seed.code for seed in ADAPTERS[player.name].statuses)

    assert [code for code, count in codes.items() if count > 1] == []
    assert all(0 < len(code) <= 64 and code == code.strip() for code in codes)
    assert all(seed.reason.replace("_", "").isalnum() for seed in ADAPTERS[player.name].statuses)


async def _examples(player: Player) -> AsyncIterator[tuple[Example, CallbackForm, Keys]]:
    form = ADAPTERS[player.name].callbacks
    for example in player.examples:
        assert form is not None
        read = await read_account(player.name, example.settings, KnownSecrets())
        keys = form.keys(read.settings)
        assert keys is not None, example.source
        yield example, form, keys


async def _verified(
    form: CallbackForm, request: RawCallback, keys: Keys
) -> VerifiedCallback | UnverifiedCallback:
    try:
        return await form.verify(request, keys)
    except TidingsError as error:
        return UnverifiedCallback(code="malformed", remedy=str(error))


def changed(request: RawCallback, place: str) -> RawCallback:
    """One byte is another."""
    if place == "body":
        middle = len(request.body) // 2
        body = bytearray(request.body)
        body[middle] = body[middle] ^ 1
        return replace(request, body=bytes(body))
    if place == "url":
        return replace(request, url=request.url + "x")
    (value,) = request.headers[place]
    middle = len(value) // 2
    other = "0" if value[middle] != "0" else "1"
    headers: Mapping[str, Any] = {**request.headers, place: [value[:middle] + other + value[middle + 1 :]]}
    return replace(request, headers=headers)


def _plain(reading: ParsedCallback) -> tuple[Any, Any, Any]:
    told = msgspec.to_builtins(list(reading.events)), msgspec.to_builtins(list(reading.inbound))
    return *told, reading.reply
