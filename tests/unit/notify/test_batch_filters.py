"""Filters of batches: what can be asked, and how a mistake is pointed at."""

import pytest

from tidings.kernel.errors import BadValueError
from tidings.notify.batches.filter import read_filter


@pytest.mark.parametrize(
    "text",
    [
        "tag = 'vip' and locale = 'fr'",
        "tag in ('vip', 'eu') and not tag = 'staff'",
        "attributes.tier >= 3 or attributes.stay.nights[0] is null",
        "identity.type = 'guest' and identity.id starts with 'g-'",
        "channel = 'email' and channel != 'sms'",
        "created_at >= '2026-01-01' and created_at < '2026-02-01T00:00:00+01:00'",
        "timezone contains 'Europe/'",
        "tag is not null",
    ],
)
def test_a_filter_over_recipients_is_read(text: str) -> None:
    assert read_filter(text).text == text


@pytest.mark.parametrize(
    ("text", "under", "says"),
    [
        ("colour = 'red'", "colour", "there is no field colour here: there are tag, locale"),
        ("tag = 'a' or name = 'x'", "name", "there is no field name here"),
        ("attributes = 'x'", "attributes", "there is no field attributes here"),
        ("attributes[0] = 'x'", "attributes", "there is no field attributes[0] here"),
        ("identity = 'x'", "identity", "there is no field identity here"),
        ("tag = 3", "3", "tag is a text"),
        ("locale in ('fr', true)", "true", "locale is a text"),
        ("channel = 'fax'", "'fax'", "channel is one of email, sms"),
        ("channel contains 'mail'", "'mail'", "channel is one of"),
        ("channel > 'email'", ">", "channel takes =, !=, in and not in"),
        ("locale < 'fr'", "<", "locale takes =, !=, in and not in"),
        ("identity.type = 'robot'", "'robot'", "identity.type is one of"),
        ("created_at > 'yesterday'", "'yesterday'", "expected a date or a time"),
        ("created_at starts with '2026-01-01'", "starts", "created_at takes"),
        ("tag = 'a' and", "", "expected a field"),
        ("tag = vip", "vip", "between ' and '"),
    ],
)
def test_a_mistake_is_pointed_at(text: str, under: str, says: str) -> None:
    with pytest.raises(BadValueError) as refused:
        read_filter(text)

    assert refused.value.field == "filter"
    told, line, caret = refused.value.remedy.splitlines()
    assert says in told
    assert line[caret.index("^") :].startswith(under)
