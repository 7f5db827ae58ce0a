"""Consent to be written to: given or withdrawn, when, how it was told, and where that can be looked up."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from tidings.contracts.moments import Moment
from tidings.kernel.refusals import FieldError

#: How consent was told: a form, a telephone call, an import.
Source = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=100,
        pattern=r"^[a-z0-9][a-z0-9_.:-]*$",
        description="must be a short word such as signup_form",
    ),
]
Evidence = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=500,
        pattern=r"^[^\x00-\x1f\x7f]+$",
        description="must be one line: a reference to where it can be looked up",
    ),
]


class Consent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Whether somebody agreed to be written to about what needs consent."""

    granted: bool
    #: When it was given or withdrawn; now, where it is left out.
    at: Moment | None = None
    #: How it was told; required to grant it.
    source: Source | None = None
    #: A reference, not a copy of personal data.
    evidence: Evidence | None = None


#: Nobody has agreed to anything until they say so.
NOT_GIVEN = Consent(granted=False)


def settle(before: Consent, wanted: Consent, *, now: datetime, at: str) -> tuple[Consent, list[FieldError]]:
    """The consent to store, and what is wrong with it; saying the same again changes nothing."""
    wrong: list[FieldError] = []
    if wanted.granted and wanted.source is None:
        wrong.append(FieldError(f"{at}.source", "is required to grant consent: say how it was told"))
    if wanted.at is not None and wanted.at > now:
        wrong.append(FieldError(f"{at}.at", "must not lie in the future"))
    same = (wanted.granted, wanted.source, wanted.evidence) == (
        before.granted,
        before.source,
        before.evidence,
    )
    when = wanted.at or (before.at if same else now)
    return Consent(granted=wanted.granted, at=when, source=wanted.source, evidence=wanted.evidence), wrong
