"""What a batch would do, and what it has done."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from msgspec import structs

from tidings.contracts.addresses import redact
from tidings.contracts.channel_configs import ChannelConfigs
from tidings.contracts.enums import AUTO
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.keys.ciphers import UnreadableError
from tidings.kernel.keys.data_key import DataKey, DestroyedKeyError
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.mapping import attributes
from tidings.notify.batches import store
from tidings.notify.batches.list_variables import WordsToFill, laid_over
from tidings.notify.batches.model import BatchCounts, BatchVariables, Person, StoredBatch
from tidings.notify.batches.orders import BatchOrders
from tidings.notify.batches.paced_accounts import unknown_paced
from tidings.notify.batches.wire import (
    BatchPreview,
    BatchReport,
    LedgerProof,
    SampledPerson,
    UnreadAnswer,
    VariantResult,
)
from tidings.notify.recipients.addresses import load_addresses
from tidings.notify.recipients.model import StoredAddress, address_purpose

_SAMPLE: Final = 10
_MOST_UNREAD: Final = 100
_WITHOUT_VARIANT: Final = "batch"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BatchReporter:
    """Previews batches and reports on them."""

    orders: BatchOrders
    configs: ChannelConfigs
    keyring: Keyring
    clock: Clock

    async def preview(
        self, tx: TenantTx, batch: StoredBatch, variables: BatchVariables | None = None
    ) -> BatchPreview:
        """How many people, some of them, and what is wrong; `variables`: of one that is not stored."""
        now = self.clock.now()
        batch = structs.replace(batch, walked_to="")
        said = batch.audience.is_said
        count = await store.count_people(tx, batch, as_of=now) if said else 0
        channels = await store.channels_of_people(tx, batch, as_of=now) if said else {}
        variables = variables or await self.orders.open(tx, batch)
        problem = await self.orders.problem(batch, variables)
        without = await store.count_without_variables(tx, batch.id) if batch.audience.variables else 0
        return BatchPreview(
            count=count,
            sample=await self._sample(tx, batch, variables) if said else [],
            channels=channels,
            problems=[
                *([problem] if problem is not None else []),
                *(f"{one.field} {one.remedy}" for one in await unknown_paced(tx, self.configs, batch)),
                *_problems_of_people(batch, count, channels, said=said),
                *([f"{without} on the list have no variables of their own"] if without else []),
            ],
        )

    async def report(self, tx: TenantTx, batch: StoredBatch, *, verify: bool) -> BatchReport:
        """What became of everybody."""
        shares = (await store.sum_counts(tx, [batch.id]))[batch.id]
        counts = store.all_together(shares)
        totals = counts.totals(
            expected=batch.expected, walked=batch.walked_at is not None, cancelled=batch.has_ended
        )
        unread = await store.list_unread(tx, batch.id, limit=_MOST_UNREAD)
        return BatchReport(
            batch_id=batch.id,
            status=batch.status,
            totals=totals,
            states=counts.states(),
            met=counts["people"],
            unmet=totals.people - counts["people"],
            variants=_results(batch, shares),
            unread_answers=[
                UnreadAnswer(recipient_id=who, notification_id=which, answers=n) for who, which, n in unread
            ],
            proof=_proof(counts, await store.count_ledger(tx, batch.id)) if verify else None,
        )

    async def _sample(
        self, tx: TenantTx, batch: StoredBatch, variables: BatchVariables
    ) -> list[SampledPerson]:
        people = await store.next_people(tx, batch, as_of=self.clock.now(), limit=_SAMPLE)
        ids = [one.recipient_id for one in people]
        channels = None if batch.channel == AUTO else [batch.channel]
        addresses = await load_addresses(tx, recipient_ids=ids, channels=channels) if ids else []
        keys = await self.keyring.data_keys(tx, ids, create=False) if ids else {}
        hints: dict[str, list[str]] = {id_: [] for id_ in ids}
        for address in addresses:
            hints[address.recipient_id].append(_hint(address, keys.get(address.recipient_id)))
        words = await self.orders.words(batch, variables) if people else []
        return [
            SampledPerson(
                recipient_id=one.recipient_id,
                to=hints[one.recipient_id],
                problems=self._wrong_words(batch, one, words, keys.get(one.recipient_id)),
            )
            for one in people
        ]

    def _wrong_words(
        self, batch: StoredBatch, one: Person, words: Sequence[WordsToFill], key: DataKey | None
    ) -> list[str]:
        """Why no message could be made for them of what is filled in, by name and never by value."""
        own: Mapping[str, Any] | str = {}
        if one.variables_ciphertext is not None:
            own = self.orders.open_own(one.variables_ciphertext, key)
        if isinstance(own, str):
            return [own]
        variant = batch.variant_of(one.recipient_id)
        wrong = [
            f"{fault.field} {fault.remedy}"
            for some in words
            if some.variant == variant
            for fault in some.faults(laid_over(some.variables, own))
        ]
        return list(dict.fromkeys(wrong))


def _hint(address: StoredAddress, key: DataKey | None) -> str:
    try:
        written = key.unseal(address.ciphertext, address_purpose(address.channel)) if key else b""
    except (DestroyedKeyError, UnreadableError):
        return "…"
    return redact(written.decode())


def _problems_of_people(
    batch: StoredBatch, count: int, channels: Mapping[str, int], *, said: bool
) -> list[str]:
    if not said:
        return ["it is for nobody yet: give it a filter, or upload a list of recipients"]
    if not count:
        return ["nobody fits"]
    if batch.channel != AUTO and channels.get(batch.channel, 0) < count:
        without = count - channels.get(batch.channel, 0)
        return [
            f"{without} of them have no address on {batch.channel}, and will count as failed or suppressed"
        ]
    return []


def _results(batch: StoredBatch, shares: Mapping[int, BatchCounts]) -> list[VariantResult]:
    whole = 100 - sum(variant.percent for variant in batch.variants)
    numbers = [*range(1, len(batch.variants) + 1)]
    if whole or 0 in shares:
        numbers.append(0)
    results = []
    for number in numbers:
        counts = shares.get(number, BatchCounts({}))
        variant = batch.variants[number - 1] if number else None
        totals = counts.totals(expected=None, walked=True, cancelled=False)
        results.append(
            VariantResult(
                name=variant.name if variant else _WITHOUT_VARIANT,
                percent=variant.percent if variant else whole,
                template=batch.template_of(number),
                **attributes(totals, "people sent delivered failed suppressed bounced opened clicked"),
            )
        )
    return results


def _proof(counts: BatchCounts, lines: Mapping[str, int]) -> LedgerProof:
    told = counts.states()
    found = {name: n for name, n in lines.items() if name not in ("accepted", "sent")}
    under_way = lines.get("accepted", 0) + lines.get("sent", 0)
    if under_way:
        found["under_way"] = under_way
    people = sum(lines.values())
    return LedgerProof(lines=lines, people=people, agrees=found == told and people == counts["people"])
