"""Types that mean something to Tidings itself: which are refused, which go to consumers of ours, and who may send those."""

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from tidings.contracts.erasure import USER_DELETED_SUBJECT
from tidings.contracts.event_versions import MIGRATION_COMPLETED_SUBJECT, SUCCESSORS
from tidings.contracts.events import EVENTS, HEARD_EVENTS
from tidings.contracts.scopes import is_platform_role
from tidings.contracts.tenants import TENANT_EVENTS
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.callers import TENANT_HEADER
from tidings.kernel.http.field_errors import explain
from tidings.kernel.refusals import (
    FieldError,
    InvalidError,
    MissingScopeError,
    NotAllowedError,
    TestKeyError,
)
from tidings.notify.received_events.model import CloudEvent, EventSender

_VERSION = re.compile(r"\.v[1-9][0-9]*\Z")
#: What Tidings calls things, without the version: a next version of it is ours as well.
_OURS: Final = frozenset(_VERSION.sub("", subject) for subject in EVENTS)
#: Types that have consumers here, with the form of their data.
_HEARD: Final[Mapping[str, type[Any]]] = {subject: EVENTS[subject] for subject in sorted(HEARD_EVENTS)}
#: Versions that a newer one follows.
_OLDER: Final = frozenset(one.replaces for one in SUCCESSORS)
_decoders = {type_: msgspec.json.Decoder(form) for type_, form in _HEARD.items()}


def is_about_tenants(event: CloudEvent) -> bool:
    """Whether it tells of a tenant, and is the platform's to send."""
    return event.type in TENANT_EVENTS


def is_heard(event_type: str) -> bool:
    """Whether it goes on the bus under its own type, to a consumer of ours."""
    return event_type in _HEARD


def check_type(event: CloudEvent, sender: EventSender) -> None:
    """Refuse an event that this sender may not send, or whose data its consumer could not read."""
    if _VERSION.sub("", event.type) in _OURS and not is_heard(event.type):
        raise InvalidError(
            [
                FieldError(
                    "type", "is a type of Tidings' own events, which only Tidings publishes; use another"
                )
            ]
        )
    if is_about_tenants(event):
        if sender.tenant_id is not None or not is_platform_role(sender.role):
            raise NotAllowedError(
                f"events about tenants are the platform's: send them with a platform key and without {TENANT_HEADER}"
            )
        _allow(sender, "tenants:write")
    elif sender.tenant_id is None:
        raise BadValueError(TENANT_HEADER, "is required with a platform key: name the tenant to act for")
    elif event.type == USER_DELETED_SUBJECT:
        # It erases a person.
        _allow(sender, "recipients:write")
    if is_heard(event.type):
        payload = payload_of(event)
        if event.type == MIGRATION_COMPLETED_SUBJECT and payload.subject not in _OLDER:
            raise InvalidError([FieldError("data.subject", "is no event that a newer version follows")])


def payload_of(event: CloudEvent) -> Any:
    """The data of an event that a consumer of ours hears, in its form; an `InvalidError` where it has another."""
    data = event.content.data
    if not isinstance(data, msgspec.Raw):
        raise InvalidError([FieldError("data", f"is required for {event.type}")])
    try:
        return _decoders[event.type].decode(data)
    except msgspec.ValidationError as error:
        wrong = explain(msgspec.json.decode(data), _HEARD[event.type], error)
        raise InvalidError(
            [FieldError(f"data.{one.field}" if one.field else "data", one.remedy) for one in wrong]
        ) from None


def _allow(sender: EventSender, scope: str) -> None:
    if sender.is_test:
        raise TestKeyError
    if scope not in sender.scopes:
        raise MissingScopeError(scope)
