"""Categories as JSON."""

from dataclasses import replace
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from tidings.contracts.enums import Category, Priority, UseCase
from tidings.contracts.tenants import Locale
from tidings.contracts.text import Label
from tidings.kernel.mapping import attributes
from tidings.kernel.refusals import FieldError, InvalidError
from tidings.notify.categories.model import DEFAULT_POSITION, CategoryPolicy, RetentionClass

Names = Annotated[dict[Locale, Label], Meta(max_length=100)]
Position = Annotated[int, Meta(ge=0, le=10_000)]
Expiry = Annotated[int, Meta(ge=60, le=31_536_000, description="In seconds: from a minute to a year.")]

#: What the wire calls a field, and what the model does.
_FIELDS = {
    "use_case": "default_use_case",
    "retention_class": "retention_class",
    "priority": "default_priority",
    "expires_after_seconds": "default_expiry_seconds",
    "needs_consent": "needs_consent",
    "can_unsubscribe": "can_unsubscribe",
    "breaks_quiet_hours": "breaks_quiet_hours",
    "may_digest": "may_digest",
    "tracking_allowed": "tracking_allowed",
    "retired": "retired",
}


class CreateCategory(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A new category."""

    category: Category
    #: By language tag: what people read on pages.
    names: Names = {}
    use_case: UseCase
    retention_class: RetentionClass = "standard"
    priority: Priority = "normal"
    #: A notification without `expires_at` is not sent after so long.
    expires_after_seconds: Expiry = 259_200
    #: Denied until the recipient has consented; must be true for marketing.
    needs_consent: bool = False
    #: Whether people can say no to it at all; must be true for marketing.
    can_unsubscribe: bool = True
    breaks_quiet_hours: bool = False
    may_digest: bool = True
    #: Whether opens and clicks may be watched.
    tracking_allowed: bool = False
    #: Where it stands on pages; the lowest first.
    position: Position = DEFAULT_POSITION

    def policy(self, owner: Literal["platform", "tenant"]) -> CategoryPolicy:
        """The category that is wanted."""
        named: dict[str, Any] = {
            "names" if owner == "platform" else "own_names": dict(self.names),
            "title": self.names.get("en") or self.category.replace("_", " ").capitalize(),
        }
        return CategoryPolicy(
            category=self.category,
            position=self.position,
            owner=owner,
            version=0,
            **named,
            **{ours: getattr(self, theirs) for theirs, ours in _FIELDS.items() if theirs != "retired"},
        )


class ChangeCategory(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is different from now on; what is left out stays."""

    #: All of them; an empty object takes your own names away.
    names: Names | UnsetType = UNSET
    position: Position | UnsetType = UNSET
    #: Whether your pages leave it out; for tenants.
    hidden: bool | UnsetType = UNSET
    use_case: UseCase | UnsetType = UNSET
    retention_class: RetentionClass | UnsetType = UNSET
    priority: Priority | UnsetType = UNSET
    expires_after_seconds: Expiry | UnsetType = UNSET
    needs_consent: bool | UnsetType = UNSET
    can_unsubscribe: bool | UnsetType = UNSET
    breaks_quiet_hours: bool | UnsetType = UNSET
    may_digest: bool | UnsetType = UNSET
    tracking_allowed: bool | UnsetType = UNSET
    #: True: nothing new may use it; what uses it already goes on.
    retired: bool | UnsetType = UNSET

    def onto(self, before: CategoryPolicy, *, by: Literal["platform", "tenant"]) -> CategoryPolicy:
        """The category with the change made; refused where it is not the caller's to make."""
        changes: dict[str, Any] = {
            ours: value
            for theirs, ours in _FIELDS.items()
            if not isinstance(value := getattr(self, theirs), UnsetType)
        }
        if by == "tenant" and before.owner == "platform" and changes:
            named = [theirs for theirs, ours in _FIELDS.items() if ours in changes]
            raise InvalidError(
                [
                    FieldError(name, "is the platform's to say; you can change names, position and hidden")
                    for name in named
                ]
            )
        if by == "platform" and not isinstance(self.hidden, UnsetType):
            raise InvalidError([FieldError("hidden", "is for a tenant to say, of its own pages")])
        if not isinstance(self.names, UnsetType):
            changes["own_names" if by == "tenant" else "names"] = dict(self.names)
        for name in ("position", "hidden"):
            if not isinstance(value := getattr(self, name), UnsetType):
                changes[name] = value
        return replace(before, **changes)


class CategoryView(Struct, frozen=True, kw_only=True):
    """A category."""

    category: str
    #: Whose it is.
    owner: Literal["platform", "tenant"]
    #: What people read on pages, by language tag: your own names over the platform's.
    names: dict[str, str]
    use_case: UseCase
    retention_class: str
    priority: Priority
    expires_after_seconds: int
    needs_consent: bool
    #: Messages have `@links.unsubscribe` and `@links.preferences` where this is true, and not otherwise.
    can_unsubscribe: bool
    breaks_quiet_hours: bool
    may_digest: bool
    tracking_allowed: bool
    position: int
    hidden: bool
    retired: bool
    #: Also the ETag; 0 where you have said nothing about one of the platform's.
    version: int
    #: What a change means for templates that are in force.
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(cls, policy: CategoryPolicy, warnings: tuple[str, ...] = ()) -> "CategoryView":
        """The category as it is shown."""
        return cls(
            **attributes(policy, "category owner position hidden version"),
            names={**policy.names, **policy.own_names},
            warnings=warnings,
            **{theirs: getattr(policy, ours) for theirs, ours in _FIELDS.items()},
        )


class CategoryList(Struct, frozen=True, kw_only=True):
    """All of them, in the order of pages."""

    items: tuple[CategoryView, ...]
