"""Consent to be written to: given or withdrawn, when, how it was told, and where that can be looked up."""

from datetime import datetime, timedelta
from typing import Annotated, Final

from msgspec import Meta, Struct

from tidings.contracts.moments import Moment
from tidings.kernel.refusals import FieldError

#: For so long a consent can be confirmed after it was asked for; after that, it can be asked for anew.
CONFIRM_WITHIN: Final = timedelta(days=14)
#: How consent was told: a form, a telephone call, an import.
Source = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=100,
        pattern=r"^[^\s@\x00-\x1f\x7f-\x9f]([^@\x00-\x1f\x7f-\x9f]*[^\s@\x00-\x1f\x7f-\x9f])?\Z",
        description="must be 1 to 100 printable characters without @, such as signup_form or front desk form",
    ),
]
Evidence = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=500,
        pattern=r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]+\Z",
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
    #: Since when it waits to be confirmed by the person (double opt-in); until then it is not granted. Not for callers
    #: to set.
    pending_since: Moment | None = None


#: No recipient has agreed to anything until they say so.
NOT_GIVEN = Consent(granted=False)


def settle(
    before: Consent, wanted: Consent, *, now: datetime, at: str, confirm: bool = False
) -> tuple[Consent, list[FieldError]]:
    """The consent to store, and what is wrong with it; saying the same again changes nothing.

    `confirm`: consent that is new has to be confirmed by the person, and is not granted until then.
    """
    if wanted.pending_since is not None and wanted.pending_since != before.pending_since:
        return before, [FieldError(f"{at}.pending_since", "is not for you to set; leave it out")]
    if wanted.pending_since is not None and not wanted.granted:
        # Given back as it was read: it goes on waiting.
        return before, []
    wrong: list[FieldError] = []
    if wanted.granted and wanted.source is None:
        wrong.append(FieldError(f"{at}.source", "is required to grant consent: say how it was given"))
    if wanted.at is not None and wanted.at > now:
        wrong.append(FieldError(f"{at}.at", "must not lie in the future"))
    same = (wanted.granted, wanted.source, wanted.evidence) == (
        before.granted,
        before.source,
        before.evidence,
    )
    if wanted.granted and not before.granted and confirm:
        since = before.pending_since
        asked = (wanted.source, wanted.evidence) == (before.source, before.evidence)
        # One that waited in vain is asked for once more, by a new link.
        if since is None or not asked or now - since >= CONFIRM_WITHIN:
            since = _to_millisecond(now)
        return (
            Consent(
                granted=False,
                at=wanted.at,
                source=wanted.source,
                evidence=wanted.evidence,
                pending_since=since,
            ),
            wrong,
        )
    when = wanted.at or (before.at if same else now)
    return Consent(granted=wanted.granted, at=when, source=wanted.source, evidence=wanted.evidence), wrong


def _to_millisecond(moment: datetime) -> datetime:
    # As answers show it: who reads it and gives it back means the same moment.
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)
