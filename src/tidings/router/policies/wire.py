"""Policies as JSON: what requests bring and answers show."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from tidings.contracts.enums import UseCase
from tidings.contracts.ladder import Strategy
from tidings.contracts.moments import Moment
from tidings.kernel.http.paging import PageQuery
from tidings.kernel.mapping import by_name
from tidings.router.policies.change import PolicyChange
from tidings.router.policies.model import (
    MOST_STEPS,
    Conditions,
    Policy,
    PolicyStep,
    PolicyTerms,
    PolicyVersion,
)
from tidings.router.policies.policy_warnings import PolicyWarning
from tidings.router.profiles.order import Order


class ConditionsInput(Conditions, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """When a step is taken; all that are given must hold, or else it is skipped."""


class StepInput(PolicyStep, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One step of a ladder."""

    conditions: ConditionsInput | None = None


class TermsInput(PolicyTerms, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a policy is to say, whole; what is left out goes back to its default."""

    #: 1 to 20 steps.
    ladder: Annotated[tuple[StepInput, ...], Meta(min_length=1, max_length=MOST_STEPS)]

    def terms(self) -> PolicyTerms:
        """The same, for the use case."""
        plain = msgspec.to_builtins(self)
        for step in plain["ladder"]:
            # Conditions that ask for nothing are none.
            if not step.get("conditions"):
                step.pop("conditions", None)
        return msgspec.convert(plain, PolicyTerms)


class CreatePolicy(TermsInput, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A policy for a use case that has none."""

    use_case: UseCase


class PutPolicy(TermsInput, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the policy is to say from now on; the use case may be repeated, and can't be changed."""

    use_case: UseCase | None = None


class RollBackPolicy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which version it is to be like again."""

    version: Annotated[int, Meta(ge=1, le=2_000_000_000)]


class ListPolicies(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which policies are wanted."""

    use_case: Annotated[UseCase | None, Meta(description="Only the one for this use case.")] = None
    deleted: Annotated[Literal["true", "false"], Meta(description="`true` shows deleted ones too.")] = "false"


class PolicyView(Struct, frozen=True, kw_only=True):
    """A policy."""

    id: str
    use_case: UseCase
    strategy: Strategy
    order: Order
    ladder: list[PolicyStep]
    #: What a second of waiting costs where the order is learned, in millionths of the currency.
    value_of_a_second: int
    #: In millionths of the currency, for one message; null: no cap.
    cost_cap_micros: int | None
    cost_cap_currency: str
    session_ttl_seconds: int
    #: Empty: the usual ones.
    stop_keywords: list[str]
    description: str | None
    version: int
    created_at: Moment
    updated_at: Moment
    #: Since when new messages do not go by it.
    deleted_at: Moment | None
    #: Until when it can be restored.
    grace_period_ends_at: Moment | None
    #: What is allowed and may not be meant, as things stand now.
    warnings: list[PolicyWarning]

    @classmethod
    def of(cls, changed: PolicyChange) -> "PolicyView":
        """The policy as it is shown."""
        return _view(changed.policy, changed.warnings)


class PolicyVersionView(Struct, frozen=True, kw_only=True):
    """A policy as it was."""

    version: int
    changed_at: Moment
    #: The user or key that made it so.
    changed_by: str
    #: Without warnings: those are about the present.
    policy: PolicyView

    @classmethod
    def of(cls, kept: PolicyVersion) -> "PolicyVersionView":
        """The version as it is shown."""
        return by_name(cls, kept, policy=_view(kept.policy, []))


def _view(policy: Policy, warnings: list[PolicyWarning]) -> PolicyView:
    return by_name(
        PolicyView,
        policy,
        ladder=list(policy.ladder),
        value_of_a_second=policy.second_micros,
        stop_keywords=list(policy.stop_keywords),
        warnings=warnings,
    )
