"""Makes, changes, deletes and brings back policies; each change is a version and a line in the audit."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from msgspec.structs import asdict, replace

from tidings.contracts.channels import ChannelsSetUp
from tidings.contracts.enums import UseCase
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.errors import AlreadyExistsError
from tidings.kernel.ids import time_of
from tidings.kernel.refusals import InvalidError
from tidings.router.accounts.accounts import Accounts
from tidings.router.policies import store
from tidings.router.policies.check import AvailableAdapters, wrong_with
from tidings.router.policies.errors import (
    GracePeriodOverError,
    PolicyDeletedError,
    PolicyInForceError,
    UnknownPolicyError,
    UnknownPolicyVersionError,
    UseCaseTakenError,
)
from tidings.router.policies.model import POLICY, Policy, PolicyId, PolicyTerms, second_of, terms_of
from tidings.router.policies.policy_warnings import PolicyContext, PolicyWarning, warnings_about
from tidings.router.prices.rates import Rates

#: Raises where the policy is not of the version that the caller has seen.
Expect = Callable[[Policy], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyChange:
    """A policy as it is now, and what its author may not have thought of."""

    policy: Policy
    warnings: list[PolicyWarning]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PolicyChanger:
    """Every way in which a policy changes."""

    # `audit` is of schema `chan`; for `grace` a deleted policy can be restored. `channels`: to warn of those that are not set up.
    adapters: AvailableAdapters
    accounts: Accounts
    rates: Rates
    audit: AuditLog
    clock: Clock
    grace: timedelta = timedelta(days=30)
    channels: ChannelsSetUp | None = None

    async def create(
        self, tx: TenantTx, use_case: UseCase, terms: PolicyTerms, *, actor: str
    ) -> PolicyChange:
        """Make one for a use case that has none in force."""
        self._check(terms)
        now = self.clock.now()
        policy_id = POLICY.new(now)
        made = Policy(
            id=policy_id,
            use_case=use_case,
            version=1,
            created_at=time_of(policy_id),
            updated_at=now,
            **_fields(terms, use_case),
        )
        if not await store.insert_policy(tx, made, actor=actor):
            raise await _taken(tx, use_case)
        await store.insert_version(tx, made, actor=actor)
        await self._tell(tx, None, made, "created", actor)
        return await self.judged(tx, made)

    async def change(
        self, tx: TenantTx, policy_id: PolicyId, terms: PolicyTerms, *, expect: Expect, actor: str
    ) -> PolicyChange:
        """Let it say something else; what says the same as before is no new version."""
        before = await self._in_force(tx, policy_id, expect)
        self._check(terms)
        return await self.judged(tx, await self._write(tx, before, terms, "updated", actor))

    async def roll_back(
        self, tx: TenantTx, policy_id: PolicyId, version: int, *, expect: Expect, actor: str
    ) -> PolicyChange:
        """Let it say what an earlier version said; that is a new version too."""
        before = await self._in_force(tx, policy_id, expect)
        kept = await store.find_version(tx, policy_id, version)
        if kept is None:
            raise UnknownPolicyVersionError(f"the policy {policy_id} has no version {version}")
        terms = terms_of(kept.policy)
        # An adapter that served it then may be gone.
        self._check(terms)
        return await self.judged(
            tx, await self._write(tx, before, terms, "rolled_back", actor, reason=f"to version {version}")
        )

    async def delete(self, tx: TenantTx, policy_id: PolicyId, *, expect: Expect, actor: str) -> Policy:
        """New messages do not go by it any more; those under way finish by the ladder that they began with."""
        before = await self._in_force(tx, policy_id, expect)
        now = self.clock.now()
        after = replace(
            before,
            version=before.version + 1,
            updated_at=now,
            deleted_at=now,
            grace_period_ends_at=now + self.grace,
        )
        await self._keep(tx, before, after, "deleted", actor)
        return after

    async def restore(self, tx: TenantTx, policy_id: PolicyId, *, actor: str) -> PolicyChange:
        """Put a deleted one in force again, as it was."""
        before = await _locked(tx, policy_id)
        now = self.clock.now()
        if before.deleted_at is None:
            raise PolicyInForceError
        if not before.restorable(now):
            raise GracePeriodOverError
        if before.use_case in await store.find_in_force(tx):
            raise await _taken(tx, before.use_case)
        after = replace(
            before, version=before.version + 1, updated_at=now, deleted_at=None, grace_period_ends_at=None
        )
        try:
            await self._keep(tx, before, after, "restored", actor)
        except AlreadyExistsError:
            # Another caller has made one since we looked; the transaction is over, and who it was can't be asked any more.
            raise UseCaseTakenError from None
        return await self.judged(tx, after)

    async def judged(self, tx: TenantTx, policy: Policy) -> PolicyChange:
        """The policy with what may surprise about it, as things stand now."""
        accounts = await self.accounts.within(tx)
        set_up = await self.channels.of(tx) if self.channels is not None else None
        around = PolicyContext(adapters=self.adapters, accounts=accounts, rates=self.rates, set_up=set_up)
        warnings = warnings_about(terms_of(policy), policy.use_case, around)
        return PolicyChange(policy=policy, warnings=warnings)

    def _check(self, terms: PolicyTerms) -> None:
        wrong = wrong_with(terms, self.adapters)
        if wrong:
            raise InvalidError(wrong)

    async def _in_force(self, tx: TenantTx, policy_id: PolicyId, expect: Expect) -> Policy:
        found = await _locked(tx, policy_id)
        if found.deleted_at is not None:
            raise PolicyDeletedError
        expect(found)
        return found

    async def _write(
        self,
        tx: TenantTx,
        before: Policy,
        terms: PolicyTerms,
        action: str,
        actor: str,
        *,
        reason: str | None = None,
    ) -> Policy:
        fields = _fields(terms, before.use_case)
        if fields == asdict(terms_of(before)):
            return before
        after = replace(before, version=before.version + 1, updated_at=self.clock.now(), **fields)
        await self._keep(tx, before, after, action, actor, reason=reason)
        return after

    async def _keep(
        self,
        tx: TenantTx,
        before: Policy,
        after: Policy,
        action: str,
        actor: str,
        *,
        reason: str | None = None,
    ) -> None:
        await store.update_policy(tx, after, actor=actor)
        await store.insert_version(tx, after, actor=actor)
        await self._tell(tx, before, after, action, actor, reason=reason)

    async def _tell(
        self,
        tx: TenantTx,
        before: Policy | None,
        after: Policy,
        action: str,
        actor: str,
        *,
        reason: str | None = None,
    ) -> None:
        entry = Entry(
            entity_type="fallback_policy",
            entity_id=after.id,
            action=action,
            actor=actor,
            before=before,
            after=after,
            reason=reason,
        )
        await self.audit.append(tx, [entry])


async def _locked(tx: TenantTx, policy_id: PolicyId) -> Policy:
    found = await store.lock_policy(tx, policy_id)
    if found is None:
        raise UnknownPolicyError(f"there is no policy with the id {policy_id}")
    return found


async def _taken(tx: TenantTx, use_case: UseCase) -> UseCaseTakenError:
    other = (await store.find_in_force(tx)).get(use_case)
    if other is None:
        return UseCaseTakenError(f"another policy for {use_case} was made just now; read the list again")
    return UseCaseTakenError(
        f"the policy {other.id} is in force for {use_case}; change that one, or delete it first"
    )


def _fields(terms: PolicyTerms, use_case: UseCase) -> dict[str, Any]:
    """What is left out goes to its default, and that of a second is the use case's."""
    fields = asdict(terms)
    if terms.value_of_a_second is None:
        fields["value_of_a_second"] = second_of(use_case)
    return fields
