"""A vendor that can be asked what it would say to a message is asked; an adapter of somebody else's package may be one."""

import asyncio
import dataclasses
from collections.abc import Iterator, Sequence
from datetime import timedelta

import msgspec
import pytest

from tests.support.vendors import KnownSecrets
from tidings.contracts.adapters import Adapter, Capabilities
from tidings.contracts.messages import Accepted, OutboundMessage, Outcome, Refused
from tidings.kernel.clock import SystemClock
from tidings.router.accounts.model import StoredAccount
from tidings.router.adapters.kind import AdapterContext, AdapterKind
from tidings.router.adapters.registry import ADAPTERS, kind_of
from tidings.router.channel_configs.check import AccountChecker, DryCall
from tidings.router.channel_configs.check_steps import AccountCheckStep
from tidings.router.channel_configs.reachability import HostPort, place_of

ACCOUNT = StoredAccount(
    id="adcfg_01JCQ8ZK6T9Y4M2V7N5B3D1F0G",
    platform=True,
    vendor="careful",
    handle=None,
    secret_ref="known://careful",
    per_second=None,
    per_day=None,
)


class CarefulSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    token: str


class Careful:
    """Takes messages to one address alone."""

    name = "careful"
    channels = frozenset({"sms", "push"})
    capabilities = Capabilities()
    longest_send = timedelta(seconds=1)

    def __init__(self) -> None:
        self.asked: list[OutboundMessage] = []
        self.closed = 0

    def __call__(self, _: CarefulSettings, __: AdapterContext) -> Adapter:
        """In the place of its class: every account has this one."""
        return self

    async def send(
        self,
        messages: Sequence[OutboundMessage],
        *,
        within: float | None = None,
        learned: list[Outcome] | None = None,
    ) -> Sequence[Outcome]:
        raise AssertionError("a look sends nothing")

    async def check(self) -> Outcome | None:
        return None

    async def dry_call(self, message: OutboundMessage) -> Outcome:
        self.asked.append(message)
        if message.to == "hang":
            await asyncio.Event().wait()
        if message.to == "fall":
            raise KeyError("a mistake")
        return Accepted() if message.to == "+93700000001" else Refused(reason="no such number", code="21211")

    async def close(self) -> None:
        self.closed += 1


@pytest.fixture
def careful(monkeypatch: pytest.MonkeyPatch) -> Iterator[Careful]:
    """As if another package had brought it."""
    adapter = Careful()

    kind = AdapterKind(
        adapter=adapter,
        title="A careful vendor",
        settings=CarefulSettings,
        credential_fields=("token",),
        main_credential="token",
    )
    monkeypatch.setitem(ADAPTERS, "careful", kind)
    kind_of.cache_clear()
    yield adapter
    kind_of.cache_clear()


async def look(wish: DryCall | None) -> AccountCheckStep:
    checker = AccountChecker(
        KnownSecrets(careful="t0ken"), clock=SystemClock(), answer_timeout=timedelta(seconds=0.05)
    )
    check = await checker.check(ACCOUNT, None, dry_call=wish)
    assert [step.result for step in check.steps[:-1]] == ["ok", "ok", *["skipped"] * 6]
    return check.steps[-1]


@pytest.mark.parametrize(
    ("to", "result", "code"),
    [
        ("+93700000001", "ok", None),
        (None, "failed", "21211"),
        ("hang", "failed", "late"),
        ("fall", "failed", "internal"),
    ],
)
async def test_what_the_vendor_would_say(
    careful: Careful, to: str | None, result: str, code: str | None
) -> None:
    step = await look(DryCall(to=to, channel="sms"))

    assert (step.result, step.code) == (result, code)
    assert [message.channel for message in careful.asked] == ["sms"]
    assert careful.closed == 1


async def test_an_adapter_that_falls_while_it_is_opened_ends_no_look(
    careful: Careful, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the words with which such an account is refused when it is set up; its own may hold anything."""

    class Falling(Careful):
        def __call__(self, _: CarefulSettings, __: AdapterContext) -> Adapter:
            raise RuntimeError("t0ken")

    monkeypatch.setitem(ADAPTERS, "careful", dataclasses.replace(ADAPTERS["careful"], adapter=Falling()))
    kind_of.cache_clear()
    check = await AccountChecker(KnownSecrets(careful="t0ken"), clock=SystemClock()).check(ACCOUNT, None)

    assert not check.ok
    (step,) = [step for step in check.steps if step.result == "failed"]
    assert step.words == "secret_ref must lead to settings that the adapter can be opened with"
    assert "t0ken" not in repr(check)
    assert careful.asked == []


async def test_it_is_asked_only_where_somebody_wants_that(careful: Careful) -> None:
    step = await look(None)

    assert (step.result, careful.asked) == ("skipped", [])


class _Api(msgspec.Struct):
    api_url: str | None


class _Server(msgspec.Struct):
    host: str
    port: int


@pytest.mark.parametrize(
    ("settings", "place"),
    [
        (_Server("mail.example", 587), HostPort(host="mail.example", port=587)),
        (_Api("https://api.vendor.example/v1"), HostPort(host="api.vendor.example", port=443)),
        (_Api("http://127.0.0.1:8025"), HostPort(host="127.0.0.1", port=8025)),
        (_Api("https://{{metadata.region}}.vendor.example/"), None),
        (_Api("https://vendor.example:port/"), None),
        (_Api(None), None),
        (CarefulSettings(token="t"), None),
    ],
)
def test_where_settings_lead_to(settings: msgspec.Struct, place: HostPort | None) -> None:
    assert place_of(settings) == place
