"""Where objects lie, and that no name leads elsewhere."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.contracts.ids import NOTIFICATION, NotificationId
from tidings.kernel.blobs.keys import checked_key, escape_file_name, owner_of, shown
from tidings.kernel.errors import BadValueError
from tidings.kernel.ids import TENANT, TenantId
from tidings.notify.blob_keys import attachment_key, first_of, rendered_key
from tidings.router.blob_keys import answer_key, webhook_key
from tidings.router.ids import INBOUND_WEBHOOK
from tidings.router.state_machine.model import ATTEMPT

DAY = datetime(2026, 3, 9, 23, 59, tzinfo=UTC)
# Made on that day, and the same in every process: they are part of the tests' names.
TENANT_ID = TENANT.parse("tnt_01KKAGMBD01VSE7KB9RVDNHC55")
NOTIFICATION_ID = NOTIFICATION.parse("ntf_01KKAGMBD0HWNT3B64HHAZN27Y")
WEBHOOK_ID = INBOUND_WEBHOOK.parse("whi_01KKAGMBD0ZD265HDXPCF7RDFR")
ATTEMPT_ID = ATTEMPT.parse("attempt_01KKAGMBD0S511NMSX3S0MF1MV")


def test_the_layout() -> None:
    """As the data model has it; the day is that of the id."""
    assert (
        rendered_key(TENANT_ID, NOTIFICATION_ID, 2, at=DAY)
        == f"_platform/rendered/2026/03/09/{NOTIFICATION_ID}.2.1773100740000.{TENANT_ID[4:].lower()}.bin"
    )
    assert first_of(rendered_key(TENANT_ID, NOTIFICATION_ID, 2, at=DAY)) == (TENANT_ID, NOTIFICATION_ID)
    assert (
        attachment_key(TENANT_ID, NOTIFICATION_ID, "invoice.pdf")
        == f"{TENANT_ID}/attachments/2026/03/09/{NOTIFICATION_ID}/invoice.pdf"
    )
    assert webhook_key("ses", WEBHOOK_ID) == f"_platform/webhooks/ses/2026/03/09/{WEBHOOK_ID}.json"
    assert answer_key(ATTEMPT_ID) == f"_platform/answers/2026/03/09/{ATTEMPT_ID}.bin"
    assert owner_of(rendered_key(TENANT_ID, NOTIFICATION_ID, 1, at=DAY)) == "_platform"
    assert owner_of(attachment_key(TENANT_ID, NOTIFICATION_ID, "a")) == TENANT_ID


@pytest.mark.parametrize(
    "name", ["..", ".", "../../etc/passwd", "/etc/passwd", "a\\b", "a\x00b", "con\n", ".htaccess"]
)
def test_hostile_file_names_become_plain_segments(name: str) -> None:
    """They are kept apart and lead nowhere."""
    key = attachment_key(TENANT_ID, NOTIFICATION_ID, name)

    assert key.count("/") == 6
    assert not key.rpartition("/")[2].startswith(".")
    assert checked_key(key) == key


@given(
    one=st.text(st.characters(), min_size=1, max_size=300),
    other=st.text(st.characters(), min_size=1, max_size=300),
)
def test_no_two_names_meet(one: str, other: str) -> None:
    """Different names give different keys, and every key is plain."""
    assert (escape_file_name(one) == escape_file_name(other)) == (one == other)
    assert checked_key(attachment_key(TENANT_ID, NOTIFICATION_ID, one))


@pytest.mark.parametrize("wrong", ["", "../tnt", "tnt_x", f"{TENANT_ID}/..", NOTIFICATION_ID])
def test_ids_are_checked(wrong: str) -> None:
    """A key is never built from something that is no id."""
    with pytest.raises(BadValueError):
        rendered_key(TenantId(wrong), NOTIFICATION_ID, 1, at=DAY)
    with pytest.raises(BadValueError):
        rendered_key(TENANT_ID, NotificationId(f"x{wrong}"), 1, at=DAY)


@pytest.mark.parametrize("vendor", ["", "..", "a/b", "SES", "a b", "x" * 64])
def test_vendors_are_plain_words(vendor: str) -> None:
    """A vendor's name comes from a URL."""
    with pytest.raises(BadValueError):
        webhook_key(vendor, WEBHOOK_ID)


def test_a_file_has_a_name() -> None:
    """An empty one leads to a folder."""
    with pytest.raises(BadValueError):
        escape_file_name("")


def test_errors_show_names_that_are_ids_and_none_that_a_person_gave() -> None:
    """A file's name may say what ails somebody."""
    kept = rendered_key(TENANT_ID, NOTIFICATION_ID, 2, at=DAY)

    assert shown(kept) == kept
    assert shown(webhook_key("ses", WEBHOOK_ID)).endswith(f"{WEBHOOK_ID}.json")
    assert shown(attachment_key(TENANT_ID, NOTIFICATION_ID, "diagnosis.pdf")).endswith(NOTIFICATION_ID)
