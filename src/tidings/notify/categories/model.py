"""A category and its policy: the platform's, a tenant's own, and how a tenant shows the platform's."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from tidings.contracts.enums import Priority, UseCase
from tidings.kernel.refusals import FieldError
from tidings.notify.render.locale_fallback import siblings

RetentionClass = Literal["regulated", "standard", "marketing"]
DEFAULT_POSITION = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryPolicy:
    """What messages of a category may do."""

    category: str
    default_use_case: UseCase
    retention_class: str
    default_priority: Priority
    #: A notification without `expires_at` is not sent after so many seconds.
    default_expiry_seconds: int
    #: Denied until the recipient has consented.
    needs_consent: bool
    #: Whether people can say no to it at all.
    can_unsubscribe: bool
    breaks_quiet_hours: bool
    may_digest: bool
    tracking_allowed: bool
    #: Of what the reader can change: the row, or 0 where a tenant has said nothing about one of the platform's.
    version: int
    title: str = ""
    #: By language tag: what people read on pages.
    names: Mapping[str, str] = field(default_factory=dict)
    #: What the tenant calls it; these win.
    own_names: Mapping[str, str] = field(default_factory=dict)
    #: Where it stands on pages; the lowest first.
    position: int = DEFAULT_POSITION
    #: The tenant does not want it on its pages.
    hidden: bool = False
    #: Nothing new may use it.
    retired: bool = False
    owner: Literal["platform", "tenant"] = "platform"

    def name_for(self, locale: str) -> str | None:
        """What people who read this language call it; None where neither the tenant nor the platform has said."""
        for names in (self.own_names, self.names):
            known = {tag.lower(): name for tag, name in names.items()}
            wanted = locale.lower()
            tried = (wanted, wanted.partition("-")[0], *siblings(locale, names))
            if found := next((known[tag.lower()] for tag in tried if tag.lower() in known), None):
                return found
        return None

    @property
    def fallback_name(self) -> str | None:
        """What it is called where it has no name in the reader's language."""
        named = {**self.names, **self.own_names}
        return named.get("en") or next(iter(named.values()), None) or self.title or None


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantCategory:
    """A tenant's row: a category of its own, or how one of the platform's appears."""

    category: str
    #: None: it is the platform's.
    policy: CategoryPolicy | None
    names: Mapping[str, str]
    #: None: as the platform has it.
    position: int | None
    hidden: bool
    version: int


def merged(
    platforms: Mapping[str, CategoryPolicy], tenants: Iterable[TenantCategory]
) -> Mapping[str, CategoryPolicy]:
    """All categories as one tenant has them; its own wins over one of the platform's that came later."""
    rows = tuple(tenants)
    if not rows:
        return platforms
    found = dict(platforms)
    for row in rows:
        if row.policy is not None:
            found[row.category] = row.policy
        elif (known := platforms.get(row.category)) is not None:
            found[row.category] = replace(
                known,
                own_names=row.names,
                position=known.position if row.position is None else row.position,
                hidden=row.hidden,
                version=row.version,
            )
    return found


def policy_faults(policy: CategoryPolicy) -> list[FieldError]:
    """What no category may be: advertising without consent, or that breaks quiet hours."""
    wrong: list[FieldError] = []
    if policy.default_use_case == "marketing":
        wrong += [
            FieldError(name, "must be true where the use case is marketing")
            for name in ("needs_consent", "can_unsubscribe")
            if not getattr(policy, name)
        ]
        if policy.breaks_quiet_hours:
            wrong.append(FieldError("breaks_quiet_hours", "must be false where the use case is marketing"))
    return wrong
