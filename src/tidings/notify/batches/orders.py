"""What a batch says to one person, as an order; and whether it can be said at all."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Final

import msgspec

from tidings.contracts.ids import RecipientId
from tidings.kernel.db import TenantTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.keys.ciphers import UnreadableError
from tidings.kernel.keys.data_key import DataKey, DestroyedKeyError
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.refusals import FieldError, InvalidError, RefusalError
from tidings.notify.accept.order import Order, OrderedBy
from tidings.notify.accept.validator import OrderValidator, ValidOrder
from tidings.notify.batches.list_variables import WordsToFill, laid_over
from tidings.notify.batches.model import (
    SEALED_FOR,
    VARIABLES_PURPOSE,
    BatchVariables,
    StoredBatch,
)
from tidings.notify.recipients.model import LIST_VARIABLES_PURPOSE
from tidings.notify.recipients.recipient_input import RecipientSpec

#: Nobody: an order is checked before its person is known.
_NOBODY: Final = RecipientSpec(id=RecipientId("rcp_00000000000000000000000000"))
_decode_own = msgspec.json.Decoder(dict[str, Any]).decode
_decode = msgspec.json.Decoder(BatchVariables).decode


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BatchOrders:
    """Makes orders of a batch."""

    keyring: Keyring
    validator: OrderValidator

    async def seal(self, tx: TenantTx, variables: BatchVariables) -> bytes:
        """The variables under the tenant's own key."""
        key = await self.keyring.data_key(tx, SEALED_FOR)
        return key.seal(msgspec.json.encode(variables), VARIABLES_PURPOSE)

    async def open(self, tx: TenantTx, batch: StoredBatch) -> BatchVariables:
        """The variables."""
        key = await self.keyring.data_key(tx, SEALED_FOR)
        return _decode(key.unseal(batch.variables_ciphertext, VARIABLES_PURPOSE))

    def order(
        self,
        batch: StoredBatch,
        variables: BatchVariables,
        recipient_id: RecipientId,
        variant: int,
        own: Mapping[str, Any] | None = None,
        *,
        expires_at: datetime | None = None,
    ) -> Order:
        """What is said to one person; `own`: what a list says of them alone."""
        return Order(
            by=OrderedBy(batch.tenant_id),
            recipient=RecipientSpec(id=recipient_id),
            template=batch.template_of(variant),
            channel=batch.channel,
            variables=laid_over(variables_of(variables, variant), own)
            if own
            else variables_of(variables, variant),
            category=batch.category,
            priority=batch.priority,
            expires_at=expires_at,
            batch_id=batch.id,
        )

    async def check(
        self, batch: StoredBatch, variables: BatchVariables, *, choose_category: bool = False
    ) -> ValidOrder:
        """The first order that could be made; an `InvalidError` that names every wrong field where there is none.

        `choose_category`: the template's own is taken.
        """
        wrong: list[FieldError] = []
        valid: ValidOrder | None = None
        for variant in range(len(batch.variants) + 1):
            order = self.order(batch, variables, _NOBODY.id or RecipientId(""), variant)
            if choose_category:
                order = msgspec.structs.replace(order, category=None)
            try:
                checked = await self.validator.validate(order, may_lack=batch.audience.may_lack)
            except InvalidError as error:
                wrong += [_of_variant(fault, variant, batch) for fault in error.errors]
            else:
                valid = valid or checked
        if wrong or valid is None:
            raise InvalidError(wrong)
        return valid

    async def words(self, batch: StoredBatch, variables: BatchVariables) -> list[WordsToFill]:
        """Every version that somebody may get, with what is filled in for all who get it."""
        found: list[WordsToFill] = []
        for variant in range(len(batch.variants) + 1):
            order = self.order(batch, variables, RecipientId(""), variant)
            found += [
                WordsToFill(
                    variant=variant,
                    variables=order.variables,
                    schema=published.version.variables_schema,
                    faults=partial(self.validator.templates.variable_faults, published),
                )
                for published in await self.validator.published_for(order)
            ]
        return found

    def open_own(self, sealed: bytes, key: DataKey | None) -> Mapping[str, Any] | str:
        """What a list says of one person alone; the reason where it can't be read."""
        if key is None:
            return "recipient_erased"
        try:
            return _decode_own(key.unseal(sealed, LIST_VARIABLES_PURPOSE))
        except DestroyedKeyError:
            return "recipient_erased"
        except UnreadableError:
            return "variables_unreadable"

    async def problem(self, batch: StoredBatch, variables: BatchVariables) -> str | None:
        """Why no message can be made of it now; None where one can."""
        try:
            await self.check(batch, variables)
        except InvalidError as error:
            return "; ".join(f"{fault.field} {fault.remedy}" for fault in error.errors)[:1000]
        except (RefusalError, BadValueError) as error:
            return str(error)[:1000]
        return None


def variables_of(variables: BatchVariables, variant: int) -> Mapping[str, Any]:
    """What is filled in for a share."""
    own = variables.variants[variant - 1] if variant and variables.variants else {}
    return {**variables.all, **own}


def _of_variant(fault: FieldError, variant: int, batch: StoredBatch) -> FieldError:
    """The same, named as a batch names it."""
    first = fault.field.partition(".")[0].partition("[")[0]
    own = variant and (first == "variables" or (first == "template" and batch.variants[variant - 1].template))
    return FieldError(f"variants[{variant - 1}].{fault.field}", fault.remedy) if own else fault
