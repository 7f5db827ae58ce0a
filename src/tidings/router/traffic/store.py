"""The only Python here that runs SQL on circuits, their counts, and weights."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import msgspec

from tidings.contracts.moments import Moment
from tidings.kernel.db import PlatformTx, Row, TenantTx, WorkerTx
from tidings.kernel.ids import TenantId
from tidings.kernel.mapping import RowMapper, columns
from tidings.kernel.sql import Queries
from tidings.router.traffic.circuit import Circuit, Counts, Override
from tidings.router.traffic.sums import AnswerCounts
from tidings.router.traffic.tally import Observed
from tidings.router.traffic.traffic_state import AccountCircuit, ChannelWeights
from tidings.router.traffic.weights import WeightShift

QUERIES = Queries.beside(__file__)


class _StoredShift(msgspec.Struct, frozen=True, kw_only=True):
    points: dict[str, int]
    moved_at: Moment
    sick_at: Moment


_points: Final = msgspec.json.Decoder(dict[str, int]).decode
_by_prefix: Final = msgspec.json.Decoder(dict[str, dict[str, int]]).decode
_shifts: Final = msgspec.json.Decoder(dict[str, _StoredShift]).decode
_encode: Final = msgspec.json.Encoder(order="deterministic").encode


# --- counts


async def add_counts(tx: WorkerTx, observed: Sequence[Observed], *, bucket: datetime, worker: str) -> None:
    """Tell the others what this process saw."""
    # In the order of the key: two processes never wait for each other, but one and its own past may.
    ordered = sorted(observed, key=lambda one: (one.account_id, one.prefix, one.era))
    await tx.execute(
        QUERIES.add_counts,
        bucket=bucket,
        worker=worker,
        **columns(ordered, "account_id prefix era ok failed slow seconds"),
    )


async def read_sums(tx: WorkerTx, *, since: datetime, account_ids: Sequence[str] = ()) -> list[AnswerCounts]:
    """What all processes saw of accounts that did not do well, and of those that are asked for."""
    rows = await tx.fetch(QUERIES.read_sums, since=since, account_ids=list(account_ids))
    return [_counts(row, counts=Counts(row["ok"], row["failed"], row["slow"])) for row in rows]


async def sweep_counts(tx: WorkerTx, *, before: datetime) -> int:
    """Remove what is too old to count; how much that was."""
    return await tx.execute(QUERIES.sweep_counts, before=before)


# --- circuits


async def read_circuits(tx: WorkerTx, *, since: datetime | None) -> list[AccountCircuit]:
    """Of all tenants: those that changed lately, or all that ever did. A person's reason is not among it."""
    rows = await tx.fetch(QUERIES.read_circuits, since=since)
    return [_circuit(row) for row in rows]


async def find_circuits(tx: TenantTx | PlatformTx, *, account_id: str | None = None) -> list[AccountCircuit]:
    """Of the tenant's own accounts, then of the platform's; in a transaction of the platform only those."""
    rows = await tx.fetch(QUERIES.find_circuits, id=account_id)
    return [_circuit(row) for row in rows]


async def change_circuit(
    tx: TenantTx | PlatformTx, account_id: str, circuit: Circuit, *, known_version: int, now: datetime
) -> bool:
    """Write the circuit, unless another transaction has changed it meanwhile; whether it was written."""
    override = circuit.override
    written = await tx.execute(
        QUERIES.change_circuit,
        circuit,
        id=account_id,
        known_version=known_version,
        now=now,
        held=override is not None,
        held_until=override.until if override else None,
        held_reason=override.reason if override else None,
    )
    return written == 1


# --- weights


async def read_weights(tx: WorkerTx, *, since: datetime | None) -> list[ChannelWeights]:
    """Of all tenants: those that changed lately, or all."""
    return [_weights(row) for row in await tx.fetch(QUERIES.read_weights, since=since)]


async def find_weights(tx: TenantTx | PlatformTx, *, channel: str | None = None) -> list[ChannelWeights]:
    """The tenant's own, then the platform's; in a transaction of the platform only those."""
    rows = await tx.fetch(QUERIES.find_weights, channel=channel)
    return [_weights(row) for row in rows]


async def insert_weights(tx: TenantTx | PlatformTx, weights: ChannelWeights, *, now: datetime) -> bool:
    """Write new ones; False where there are some for the channel already."""
    written = await tx.execute(
        QUERIES.insert_weights,
        weights,
        home=_encode(weights.home).decode(),
        by_prefix=_encode(weights.by_prefix).decode(),
        now=now,
    )
    return written == 1


async def change_weights(
    tx: TenantTx | PlatformTx, weights: ChannelWeights, *, known_version: int, now: datetime
) -> bool:
    """Write them, unless another transaction has changed them meanwhile; whether they were written."""
    written = await tx.execute(
        QUERIES.change_weights,
        weights,
        known_version=known_version,
        home=_encode(weights.home).decode(),
        by_prefix=_encode(weights.by_prefix).decode(),
        shifts=_encode(weights.shifts).decode(),
        now=now,
    )
    return written == 1


@dataclass(frozen=True, slots=True)
class _Asked:
    place: int
    tenant_id: TenantId | None
    vendor: str


async def accounts_of_tenants(
    tx: WorkerTx, asks: Sequence[tuple[TenantId | None, Sequence[str]]]
) -> list[dict[str, str]]:
    """For each ask: the account that the tenant sends through with each vendor, by vendor."""
    asked = [
        _Asked(place, tenant_id, vendor)
        for place, (tenant_id, vendors) in enumerate(asks)
        for vendor in vendors
    ]
    rows = await tx.fetch(QUERIES.accounts_of_tenants, **columns(asked, "place tenant_id vendor"))
    found: list[dict[str, str]] = [{} for _ in asks]
    for row in rows:
        found[row["place"]][row["vendor"]] = row["id"]
    return found


def _circuit(row: Row) -> AccountCircuit:
    override = None
    if row["circuit_held"]:
        override = Override(
            state=row["circuit_state"],
            until=row["circuit_held_until"],
            reason=row["circuit_held_reason"] or "",
        )
    return _account(row, circuit=_circuit_state(row, override=override))


_counts = RowMapper(AnswerCounts, [QUERIES.read_sums], columns={"vendor": "provider"}, omit="counts")
_account = RowMapper(
    AccountCircuit,
    [QUERIES.read_circuits, QUERIES.find_circuits],
    columns={"account_id": "id", "vendor": "provider"},
    omit="circuit",
)
_circuit_state = RowMapper(
    Circuit,
    [QUERIES.read_circuits, QUERIES.find_circuits],
    columns={
        "state": "circuit_state",
        "version": "circuit_version",
        "since": "circuit_changed_at",
        "until": "circuit_until",
        "openings": "circuit_openings",
        "prober": "circuit_prober",
        "reason": "circuit_reason",
    },
    omit="override",
)


def _read_shifts(stored: str) -> Mapping[str, WeightShift]:
    return {
        prefix: WeightShift(points=one.points, moved_at=one.moved_at, sick_at=one.sick_at)
        for prefix, one in _shifts(stored).items()
    }


_weights = RowMapper(
    ChannelWeights,
    [QUERIES.read_weights, QUERIES.find_weights],
    read={"home": _points, "by_prefix": _by_prefix, "shifts": _read_shifts},
)
