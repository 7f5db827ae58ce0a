"""Opt-out tokens: they name their tenant, differ by everything that they are for, and have one spelling."""

import asyncio
import base64
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from tidings.contracts.addresses import CHANNELS, normalise
from tidings.contracts.ids import RECIPIENT
from tidings.kernel.errors import BadValueError
from tidings.kernel.ids import TENANT
from tidings.kernel.keys.pepper import Pepper
from tidings.notify.preference_center.tokens import (
    OptOutScope,
    hash_of,
    make_confirmation,
    make_token,
    no_address,
    tenant_of_token,
)
from tidings.notify.preference_center.visits import Places

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
TENANT_ID, LAILA = TENANT.new(NOON), RECIPIENT.new(NOON)
PEPPER = Pepper(b"p" * 32)
SCOPE: dict[str, Any] = {"recipient_id": LAILA, "channel": "email", "category": "reminder"}


def token(at: datetime = NOON, pepper: Pepper = PEPPER, tenant_id: Any = TENANT_ID, **scope: Any) -> Any:
    return make_token(tenant_id, OptOutScope(**SCOPE | scope), pepper=pepper, at=at)


def test_a_token_carries_its_tenant_and_nothing_of_it_shows() -> None:
    made = token()
    assert tenant_of_token(made.text) == TENANT_ID
    assert made.token_hash == hash_of(made.text)
    assert made.text not in repr(made)
    assert len(made.text) == 54


def test_a_month_shares_it_and_nothing_else_does() -> None:
    same = {token().text, token(NOON.replace(day=1, hour=0)).text, token(NOON.replace(day=30)).text}
    others = [
        token(NOON + timedelta(days=30)),
        token(pepper=Pepper(b"q" * 32)),
        token(tenant_id=TENANT.new(NOON)),
        token(recipient_id=RECIPIENT.new(NOON)),
        token(channel="sms"),
        token(category="social"),
        token(category=None),
        make_confirmation(TENANT_ID, OptOutScope(**SCOPE), pepper=PEPPER, at=NOON),
    ]
    assert len(same) == 1
    assert len({other.text for other in others} | same) == len(others) + 1


@pytest.mark.parametrize("at", [NOON.replace(day=1, hour=0), datetime(2026, 12, 31, 23, 59, tzinfo=UTC)])
def test_it_lasts_for_more_than_a_year_after_its_month(at: datetime) -> None:
    left = token(at).expires_at - at
    assert timedelta(days=400) < left < timedelta(days=432)


@pytest.mark.parametrize("text", ["", "example", "x" * 53, "x" * 55, "é" * 54, "=" * 54, "A" * 53 + "B"])
def test_what_is_no_token_is_nobodys(text: str) -> None:
    assert tenant_of_token(text) is None


def test_no_address_hashes_to_a_token() -> None:
    """Whoever chooses their own push address must not read a secret from its hash."""
    confirmation = make_confirmation(TENANT_ID, OptOutScope(**SCOPE), pepper=PEPPER, at=NOON)
    texts = {
        token().text: f"opt-out:{LAILA}:email:reminder:2026-11",
        confirmation.text: f"confirm:{LAILA}:email:{NOON.isoformat()}",
    }
    for text, said in texts.items():
        secret = base64.urlsafe_b64decode(text + "==")[16:].hex()
        address = normalise("push", said)
        assert not PEPPER.hash(address).removeprefix("sha256:").startswith(secret)
        assert PEPPER.hash(no_address(said)).removeprefix("sha256:").startswith(secret), "it is that text"


@pytest.mark.parametrize("channel", CHANNELS)
def test_no_address_begins_as_what_is_none(channel: str) -> None:
    like_one = {"email": "a@example.org", "webhook": "https://example.org/"}.get(channel, "+93701234567")
    for said in (no_address(like_one), no_address(f" {like_one}")):
        try:
            assert normalise(channel, said) != said
        except BadValueError:
            continue


def test_no_address_hashes_to_a_place_and_the_pepper_is_asked_for_once() -> None:
    asked: list[str] = []

    async def shared() -> Any:
        asked.append("shared")
        return SimpleNamespace(platform_pepper=PEPPER)

    async def names() -> list[str]:
        places = Places(SimpleNamespace(shared=shared))  # type: ignore[arg-type]
        return [await places.name(place) for place in ("192.0.2.1", "192.0.2.1", "192.0.2.2")]

    first, again, other = asyncio.run(names())
    assert (first == again, first == other, asked) == (True, False, ["shared"])
    assert first != PEPPER.hash(normalise("push", "visitor:192.0.2.1"))
