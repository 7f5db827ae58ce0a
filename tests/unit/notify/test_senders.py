"""Who may appear as whom: over accounts that tenants share, and over a tenant's own."""

from collections.abc import Mapping

import pytest

from tidings.contracts.senders import is_granted
from tidings.contracts.tenants import Channel, NotificationPolicy
from tidings.kernel.ids import TenantId
from tidings.notify.channels.model import Sender
from tidings.notify.channels.senders import authorised, sender_wrong, shown_on

TENANT = TenantId("tnt_01")
MAIL = NotificationPolicy(allowed_sender_domains=("acme.test", "*.acme.test"))
PHONE = NotificationPolicy(allowed_sender_ids=("+15550100", "ACME"))
HOUSE = NotificationPolicy(allowed_sender_ids=("+15550199",))
NOTHING = NotificationPolicy()
ANYTHING = NotificationPolicy(allowed_sender_domains=("*",), allowed_sender_ids=("*",))
OWN: dict[str, str | None] = {}
SHARED: dict[str, str | None] = {"v": None}
WITH_NUMBER: dict[str, str | None] = {"v": "+15550199"}
WITH_NAME: dict[str, str | None] = {"v": "HOUSE"}
WITH_ADDRESS: dict[str, str | None] = {"v": "Hello@house.test"}


@pytest.mark.parametrize(
    ("channel", "shown", "policy", "shared", "may"),
    [
        # Over an account that tenants share: what is granted, and the account's own where nobody can answer it.
        ("email", "hello@acme.test", NOTHING, SHARED, False),
        ("email", "hello@acme.test", MAIL, SHARED, True),
        ("email", "hello@eu.acme.test", MAIL, SHARED, True),
        ("email", "hello@notacme.test", MAIL, SHARED, False),
        ("email", "hello@acme.test", PHONE, SHARED, False),
        ("email", "hello@acme.test", ANYTHING, SHARED, True),
        ("email", "hello@house.test", NOTHING, WITH_ADDRESS, True),
        ("email", "other@house.test", NOTHING, WITH_ADDRESS, False),
        ("email", None, NOTHING, WITH_ADDRESS, True),
        ("email", None, ANYTHING, SHARED, False),
        ("email", None, NOTHING, WITH_NUMBER, False),
        ("sms", "ACME", NOTHING, SHARED, False),
        ("sms", "acme", PHONE, SHARED, True),
        ("sms", "15550100", PHONE, SHARED, True),
        ("sms", "+155501001", PHONE, SHARED, False),
        ("sms", "ACME Bank", PHONE, SHARED, False),
        ("sms", "ACME", MAIL, SHARED, False),
        ("sms", "anything", ANYTHING, SHARED, True),
        ("sms", "15550199", NOTHING, WITH_NUMBER, False),
        ("sms", "15550199", HOUSE, WITH_NUMBER, True),
        ("sms", None, NOTHING, WITH_NUMBER, False),
        ("sms", None, HOUSE, WITH_NUMBER, True),
        ("sms", None, NOTHING, WITH_NAME, True),
        ("whatsapp", None, NOTHING, WITH_NUMBER, False),
        ("whatsapp", None, HOUSE, WITH_NUMBER, True),
        ("telegram", None, NOTHING, WITH_NAME, False),
        ("voice", None, NOTHING, WITH_NUMBER, True),
        ("sms", None, NOTHING, SHARED, False),
        ("voice", "+15550100", NOTHING, SHARED, False),
        ("whatsapp", "+15550100", NOTHING, SHARED, False),
        ("viber", "ACME", NOTHING, SHARED, False),
        ("telegram", "ACME", NOTHING, SHARED, False),
        ("push", None, NOTHING, SHARED, True),
        # Over the tenant's own account: anything, or what its list names.
        ("email", "hello@acme.test", NOTHING, OWN, True),
        ("email", "hello@other.test", MAIL, OWN, False),
        ("email", "hello@other.test", ANYTHING, OWN, True),
        ("email", None, NOTHING, OWN, False),
        ("sms", "ACME", NOTHING, OWN, True),
        ("sms", "+15550100", PHONE, OWN, True),
        ("sms", "Other", PHONE, OWN, False),
        ("sms", None, NOTHING, OWN, False),
        ("inapp", None, NOTHING, OWN, True),
    ],
)  # fmt: skip
def test_who_may_appear_as_whom(
    channel: Channel,
    shown: str | None,
    policy: NotificationPolicy,
    shared: Mapping[str, str | None],
    *,
    may: bool,
) -> None:
    sender = Sender(from_address=shown) if channel == "email" else Sender(sender_id=shown)

    assert shown_on(channel, sender) == shown
    assert authorised(channel, shown, policy, vendor="v", shared=shared) is may
    # What a channel is refused for when it is written is what a message is refused for.
    wrong = sender_wrong(channel, sender, policy, vendors=["v"], shared=shared, tenant_id=TENANT)
    assert bool(wrong) is not may


def test_an_empty_list_grants_nothing() -> None:
    assert not is_granted("email", "hello@acme.test", ())
    assert not is_granted("sms", "ACME", ())


def test_a_channel_without_a_sender_is_told_which_one_is_not_granted() -> None:
    """The account has a number of its own, and people answer it."""
    (wrong,) = sender_wrong("sms", Sender(), NOTHING, vendors=["v"], shared=WITH_NUMBER, tenant_id=TENANT)

    assert wrong.field == "sender.sender_id"
    assert wrong.remedy == (
        "must be one that is granted to you, because the account with v is the platform's and tenants share it; "
        "granted: none so far. The platform's operator grants one: `tidings tenant grant tnt_01 --sender-id +15550199`"
    )


def test_a_refusal_says_what_is_granted_and_who_grants_more() -> None:
    policy = NotificationPolicy(allowed_sender_domains=("acme.test", "acme.example"))
    sender = Sender(from_address="hello@Bank.test")
    (wrong,) = sender_wrong(
        "email", sender, policy, vendors=["smtp"], shared={"smtp": "hello@house.test"}, tenant_id=TENANT
    )

    assert wrong.field == "sender.from_address"
    assert wrong.remedy == (
        "must be of a domain that is granted to you, because the account with smtp is the platform's and tenants share it; "
        "granted: acme.test, acme.example; leave it out to send as hello@house.test. "
        "The platform's operator grants one: `tidings tenant grant tnt_01 --sender-domain bank.test`"
    )


def test_both_vendors_have_to_be_allowed_to_show_it() -> None:
    """The first is the tenant's own; the one to fall back to is shared."""
    sender = Sender(sender_id="Big Bank")
    (wrong,) = sender_wrong(
        "sms", sender, NOTHING, vendors=["own", "twilio"], shared={"twilio": None}, tenant_id=TENANT
    )

    assert wrong.field == "sender.sender_id"
    assert "the account with twilio" in wrong.remedy
    assert wrong.remedy.endswith("`tidings tenant grant tnt_01 --sender-id 'Big Bank'`")
    assert not sender_wrong("sms", sender, NOTHING, vendors=["own"], shared=SHARED, tenant_id=TENANT)
