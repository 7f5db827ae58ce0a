"""Which ledgers are exported, with which columns: ids, words of ours, numbers and times; never what somebody wrote."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

LedgerName = Literal["operator_activity", "alert_ack_log", "ai_decision_log", "lock_action_proxy_audit"]
Type = Literal["text", "time", "int"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """A ledger as files of it are written."""

    name: LedgerName
    #: When a row came to be; a file holds a stretch of it.
    time: str
    #: What no two rows of a tenant share.
    unique: tuple[str, ...]
    #: Columns of a file, `tenant_id` first.
    columns: Mapping[str, Type]
    #: Whether the table is split by month, and months are dropped as a whole; its rows then never change.
    by_month: bool = True
    #: Whether it has rows of the platform's own.
    of_platform: bool = False

    @property
    def table(self) -> str:
        """With its schema."""
        return f"bff_backoffice.{self.name}"


def _texts(names: str) -> dict[str, Type]:
    return dict.fromkeys(names.split(), "text")


LEDGERS: Final[Mapping[LedgerName, Ledger]] = {
    one.name: one
    for one in (
        Ledger(
            name="operator_activity",
            time="occurred_at",
            unique=("id",),
            columns={
                **_texts("tenant_id id"),
                "occurred_at": "time",
                **_texts(
                    "property_id operator_id device_id session_id category action resource_kind resource_id outcome"
                ),
                "status": "int",
                "error_code": "text",
                "latency_ms": "int",
                "context_hash": "text",
            },
            of_platform=True,
        ),
        Ledger(
            name="alert_ack_log",
            time="acknowledged_at",
            unique=("alert_id", "acknowledged_by"),
            columns={
                **_texts("tenant_id alert_id acknowledged_by property_id category severity"),
                "raised_at": "time",
                "acknowledged_at": "time",
                "withdrawn_at": "time",
                **_texts("device_id note_id"),
            },
            by_month=False,
            of_platform=True,
        ),
        Ledger(
            name="ai_decision_log",
            time="decided_at",
            unique=("id",),
            columns={
                **_texts("tenant_id id"),
                "decided_at": "time",
                **_texts(
                    "property_id suggestion_id inbox_entry_id category severity outcome decided_by device_id note_id"
                ),
            },
        ),
        Ledger(
            name="lock_action_proxy_audit",
            time="occurred_at",
            unique=("id",),
            columns={
                **_texts("tenant_id id"),
                "occurred_at": "time",
                **_texts("property_id operator_id device_id reservation_id action vendor outcome error_code"),
                **_texts("mfa_attestation_id upstream_request_id settles_id"),
                "upstream_latency_ms": "int",
            },
        ),
    )
}

if set(LEDGERS) != set(get_args(LedgerName)):
    raise AssertionError("every ledger that is exported has its line in LEDGERS")
