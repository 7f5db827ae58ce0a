"""What happens in the back office, as events; ids and facts, never an address, a name or a token."""

from typing import Final, Literal

from msgspec import Struct

from tidings.contracts.moments import Moment

SESSION_OPENED_SUBJECT: Final = "backoffice.session.opened.v1"
SESSION_REVOKED_SUBJECT: Final = "backoffice.session.revoked.v1"
FORCE_LOGOUT_SUBJECT: Final = "backoffice.force_logout.v1"
DEVICE_OFFLINE_SUBJECT: Final = "backoffice.device.offline.v1"
DEVICE_ONLINE_SUBJECT: Final = "backoffice.device.online.v1"
PREFERENCES_CHANGED_SUBJECT: Final = "backoffice.operator_preferences.changed.v1"
AI_SUGGESTION_DECIDED_SUBJECT: Final = "backoffice.ai_suggestion.decided.v1"
LOCK_ACTION_PERFORMED_SUBJECT: Final = "backoffice.lock_action.performed.v1"
ALERT_RAISED_SUBJECT: Final = "backoffice.alert.raised.v1"
ALERT_ACKNOWLEDGED_SUBJECT: Final = "backoffice.alert.acknowledged.v1"
ALERT_WITHDRAWN_SUBJECT: Final = "backoffice.alert.acknowledgement_withdrawn.v1"
ALERT_RESOLVED_SUBJECT: Final = "backoffice.alert.resolved.v1"

#: Why a session ended before its time.
EndedReason = Literal["signed_out", "revoked", "forced_out", "replaced", "other_device", "operator_changed"]
#: Whose sessions are ended together.
ForceLogoutScope = Literal["operator", "device", "tenant", "all"]
#: How soon somebody should look: some time, today, now.
AlertSeverity = Literal["info", "warning", "critical"]


class SessionOpened(Struct, frozen=True, kw_only=True):
    """An operator signed in."""

    session_id: str
    operator_id: str
    device_id: str
    expires_at: Moment


class SessionRevoked(Struct, frozen=True, kw_only=True):
    """A session ended before its time."""

    session_id: str
    operator_id: str
    device_id: str
    #: `other_device`: its token came with another device's secret, or with none.
    reason: EndedReason


class ForceLogout(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Somebody ended all sessions of an operator, a device, a tenant, or of everybody."""

    scope: ForceLogoutScope
    #: The operator's or the device's id.
    target: str | None = None
    #: How many sessions it ended here.
    sessions: int


class AlertRaised(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Operators have to know of something."""

    alert_id: str
    #: What it is; docs/alerts.md lists them.
    category: str
    severity: AlertSeverity
    #: Where it is about one property.
    property_id: str | None = None
    #: The part of Tidings that saw it.
    source: str
    #: Ids and numbers that say more, by name.
    facts: dict[str, str | int] = {}


class AlertAcknowledged(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An operator says that they look after an alert."""

    alert_id: str
    category: str
    severity: AlertSeverity
    property_id: str | None = None
    operator_id: str


class AlertAcknowledgementWithdrawn(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An operator takes their acknowledgement back."""

    alert_id: str
    category: str
    severity: AlertSeverity
    property_id: str | None = None
    operator_id: str
    #: Whether nobody else has acknowledged it.
    is_raised_again: bool = False


class AlertResolved(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """It is over."""

    alert_id: str
    category: str
    severity: AlertSeverity
    property_id: str | None = None
    #: An operator's id, or `system`: the cause was over.
    resolved_by: str


class DeviceOffline(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A device on which somebody is signed in has been silent for five minutes."""

    device_id: str
    #: Who was on it last.
    operator_id: str | None = None
    property_id: str | None = None
    last_heartbeat_at: Moment


class DeviceOnline(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """It is back."""

    device_id: str
    operator_id: str
    property_id: str | None = None
    #: When its outage was noticed.
    offline_since: Moment


class PreferencesChanged(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An operator likes to work otherwise; how, the service that keeps preferences knows."""

    operator_id: str
    #: Left out: for all properties.
    property_id: str | None = None
    version: int


class AiSuggestionDecided(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Somebody has accepted, rejected or changed what an AI suggests; what they changed and why is in the ledger."""

    #: As who suggested it calls it; of the draft of a template `tpv_….3`, its version and how often it was changed.
    suggestion_id: str
    inbox_entry_id: str
    property_id: str | None = None
    category: str
    severity: AlertSeverity
    outcome: Literal["accepted", "rejected", "modified"]
    decided_by: str


class LockActionPerformed(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The lock service was asked to issue, revoke, rebind or extend keys."""

    #: Of its row in the audit.
    lock_action_id: str
    property_id: str
    operator_id: str
    reservation_id: str
    action: Literal["issue", "revoke", "rebind", "extend"]
    #: `unknown`: its answer was not learned; another event tells the end.
    outcome: Literal["success", "failure", "unknown"]
    #: Of what was no success.
    error_code: str | None = None
    #: Who makes the lock, where the lock service said it.
    vendor: str | None = None
    #: The action of outcome `unknown` whose end this is.
    settles_id: str | None = None


BACKOFFICE_EVENTS: dict[str, type[Struct]] = {
    SESSION_OPENED_SUBJECT: SessionOpened,
    SESSION_REVOKED_SUBJECT: SessionRevoked,
    FORCE_LOGOUT_SUBJECT: ForceLogout,
    ALERT_RAISED_SUBJECT: AlertRaised,
    ALERT_ACKNOWLEDGED_SUBJECT: AlertAcknowledged,
    ALERT_WITHDRAWN_SUBJECT: AlertAcknowledgementWithdrawn,
    ALERT_RESOLVED_SUBJECT: AlertResolved,
    DEVICE_OFFLINE_SUBJECT: DeviceOffline,
    DEVICE_ONLINE_SUBJECT: DeviceOnline,
    PREFERENCES_CHANGED_SUBJECT: PreferencesChanged,
    AI_SUGGESTION_DECIDED_SUBJECT: AiSuggestionDecided,
    LOCK_ACTION_PERFORMED_SUBJECT: LockActionPerformed,
}
