"""Alerts as JSON: what requests bring and answers show."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct

from tidings.backoffice.alerts.model import Acknowledgement, Alert, AlertFilter, AlertStatus, Mute
from tidings.backoffice.notes.model import NoteText
from tidings.contracts.backoffice import AlertSeverity
from tidings.contracts.moments import Moment
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.paging import PageQuery
from tidings.kernel.mapping import by_name

Category = Annotated[
    str,
    Meta(pattern=r"^[a-z][a-z0-9_.]{0,63}\Z", description="must be a category, such as device_offline"),
]


def parse_category(text: str) -> str:
    """A category in a path."""
    if re.fullmatch(r"[a-z][a-z0-9_.]{0,63}", text) is None:
        raise BadValueError("category", "must be a category, such as device_offline")
    return text


#: A month: who wants to hear nothing for longer wants no alert.
_MOST_MINUTES = 31 * 24 * 60


class ListAlerts(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which alerts are wanted."""

    status: Annotated[
        Literal["open", "resolved", "all"],
        Meta(description="`open`: raised or acknowledged; `resolved`; or `all`."),
    ] = "open"
    severity: Annotated[AlertSeverity | None, Meta(description="Only those of this severity.")] = None
    category: Annotated[Category | None, Meta(description="Only those of this category.")] = None
    property_id: Annotated[str | None, Meta(description="Only those about this property.")] = None

    def filter(self) -> AlertFilter:
        """As the store knows it."""
        return AlertFilter(
            with_open=self.status != "resolved",
            with_resolved=self.status != "open",
            severity=self.severity,
            category=self.category,
            property_id=self.property_id,
        )


class AcknowledgementView(Struct, frozen=True, kw_only=True):
    """An operator looks after an alert."""

    operator_id: str
    #: Null: an operator of the platform, for a tenant; or one who was erased.
    operator_name: str | None
    acknowledged_at: Moment
    #: What they wrote; null without one, and where a data steward removed it.
    note: str | None
    #: Whether it is the one who asks.
    is_own: bool


class AlertView(Struct, frozen=True, kw_only=True):
    """Something that operators have to know of."""

    id: str
    #: What it is; docs/alerts.md lists them.
    category: str
    severity: AlertSeverity
    #: Null: about no property.
    property_id: str | None
    #: The part of Tidings that raised it.
    source: str
    #: Ids and numbers, by name.
    facts: dict[str, str | int]
    status: AlertStatus
    raised_at: Moment
    last_seen_at: Moment
    #: How often it was raised while it was open.
    times_seen: int
    acknowledged_at: Moment | None
    acknowledgements: list[AcknowledgementView]
    resolved_at: Moment | None
    #: An operator's id, or `system`: the cause was over.
    resolved_by: str | None
    resolved_by_name: str | None
    #: Until when nobody is told of its category; null: they are.
    muted_until: Moment | None


class SeenAlerts(Struct, frozen=True, kw_only=True):
    """What stands beside alerts."""

    acknowledgements: Mapping[str, Sequence[Acknowledgement]]
    #: Notes by their ids.
    notes: Mapping[str, str]
    #: Operators' names by their ids.
    names: Mapping[str, str]
    mutes: Mapping[str, datetime]
    own_id: str

    def view(self, alert: Alert) -> AlertView:
        """The alert as the one who asks sees it."""
        return by_name(
            AlertView,
            alert,
            facts=dict(alert.facts),
            acknowledgements=[
                AcknowledgementView(
                    operator_id=one.operator_id,
                    operator_name=self.names.get(one.operator_id),
                    acknowledged_at=one.acknowledged_at,
                    note=self.notes.get(one.note_id or ""),
                    is_own=one.operator_id == self.own_id,
                )
                for one in self.acknowledgements.get(alert.id, ())
            ],
            resolved_by_name=self.names.get(alert.resolved_by or ""),
            muted_until=self.mutes.get(alert.category),
        )


class AlertCounts(Struct, frozen=True, kw_only=True):
    """How many alerts are open that you may see, without those of muted categories."""

    open: int
    #: Of those, the ones that nobody has acknowledged.
    unacknowledged: int
    critical: int
    warning: int
    info: int
    #: Open ones of muted categories.
    muted: int


class AcknowledgeAlert(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """That you look after it."""

    note: NoteText | None = None


class MuteAlerts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """For how long nobody is to be told."""

    minutes: Annotated[int, Meta(ge=1, le=_MOST_MINUTES, description="From now on; a month at most.")]


class MuteView(Struct, frozen=True, kw_only=True):
    """A category of which nobody is told for a time."""

    category: str
    muted_until: Moment
    muted_by: str
    muted_at: Moment

    @classmethod
    def of(cls, mute: Mute) -> "MuteView":
        """The mute."""
        return by_name(cls, mute)


class Mutes(Struct, frozen=True, kw_only=True):
    """All that hold now."""

    items: list[MuteView]


class TellingView(Struct, frozen=True, kw_only=True):
    """Of which alerts you are told by a message, and where."""

    #: This severity and graver ones; null: you are told of nothing.
    severity: AlertSeverity | None
    #: A number for text messages, beside your mail.
    phone: str | None
    #: In which language; null: not chosen.
    language: str | None


class ChooseTelling(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Of which alerts you want to be told by a message."""

    #: This severity and graver ones; null: nothing.
    severity: AlertSeverity | None
    #: A number for text messages, beside your mail: `+93701234567`.
    phone: (
        Annotated[
            str,
            Meta(pattern=r"^\+[1-9][0-9]{6,14}\Z", description="must be a number such as +93701234567"),
        ]
        | None
    ) = None
    #: In which language.
    language: Literal["en", "fr", "ar", "fa-AF", "ps-AF"] = "en"


class BudgetView(Struct, frozen=True, kw_only=True):
    """What the tenant means to spend on messages in a month."""

    currency: str
    #: In millionths of the currency.
    micros: int


class BudgetList(Struct, frozen=True, kw_only=True):
    """One for each currency."""

    items: list[BudgetView]


class PutBudget(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the tenant means to spend in a month. Nothing is held back by it: an alert says when it is nearly spent."""

    #: In millionths of the currency; null: no budget.
    micros: Annotated[int, Meta(ge=1, le=10**15)] | None


def parse_currency(text: str) -> str:
    """A currency in a path."""
    if re.fullmatch(r"[A-Z]{3}", text) is None:
        raise BadValueError("currency", "must be three capital letters, such as EUR")
    return text
