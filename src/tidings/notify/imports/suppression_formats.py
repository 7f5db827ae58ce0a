"""The lists of other services, as they export them: which columns tell them apart, and what their words mean here.

SendGrid: bounces and blocks `status,reason,email,created`; invalid addresses `reason,email,created`; spam reports
`ip,email,created`; global unsubscribes `email,created`; group unsubscribes with `group_id` or `group_name`.
Mailgun: bounces `address,code,error,created_at`; unsubscribes `address,tags,created_at`; complaints
`address,created_at`, with or without `count`. Postmark: `EmailAddress,SuppressionReason,Origin,CreatedAt`, where pages
call the first one `Recipient`. SES: `EmailAddress,Reason,LastUpdateTime`, or `address,BOUNCE` without headings.

Their free texts (`reason`, `error`) quote what mail servers said, addresses included: they are never kept.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tidings.notify.imports.errors import UnreadableFileError
from tidings.notify.suppressions.model import SuppressionReason

FormatName = Literal["auto", "sendgrid", "mailgun", "postmark", "ses", "generic"]

#: Why, of a row whose columns are spelt small; a text says why a row can't be taken.
ReasonOf = Callable[[Mapping[str, Any]], "SuppressionReason | RowRefusal"]

#: Fields of a generic file.
FIELDS = ("address", "channel", "reason", "expires_at", "notes", "date")
#: What our own export calls the date.
OUR_DATE = "occurred_at"
#: Other names under which generic files hold an address.
_ADDRESS_NAMES = (
    "address",
    "email",
    "email_address",
    "emailaddress",
    "e-mail",
    "recipient",
    "phone",
    "phone_number",
)


@dataclass(frozen=True, slots=True)
class RowRefusal:
    """Why a row of a known list can't be taken."""

    column: str
    code: str
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListFormat:
    """One list of one service."""

    format: FormatName
    #: What people call it.
    name: str
    #: Columns, spelt small, that must be there.
    required: frozenset[str]
    #: The only others that may be there; None: any.
    optional: frozenset[str] | None
    #: The one that holds the address: the first of these that is there.
    address: tuple[str, ...]
    #: Those that may hold the date, likewise.
    date: tuple[str, ...]
    reason: ReasonOf


def _always(reason: SuppressionReason) -> ReasonOf:
    return lambda _: reason


def _bounce(column: str) -> ReasonOf:
    def by_code(row: Mapping[str, Any]) -> SuppressionReason:
        # `4.2.2`, `452`: for a while. Everything else is on a list of bounces because it is for good.
        return (
            SuppressionReason.SOFT_BOUNCE
            if str(row.get(column, "")).strip().startswith("4")
            else SuppressionReason.HARD_BOUNCE
        )

    return by_code


def _mailgun_unsubscribe(row: Mapping[str, Any]) -> SuppressionReason | RowRefusal:
    column = "tags" if "tags" in row else "tag"
    tags = row.get(column)
    named = tags if isinstance(tags, list) else str(tags or "*").strip("[]\"' ").split(",")
    if "*" in [str(tag).strip("\"' ") for tag in named]:
        return SuppressionReason.OPT_OUT
    return RowRefusal(column, "only_one_tag", "is an opt-out from one tag only; import it as preferences")


def _sendgrid_group(_: Mapping[str, Any]) -> SuppressionReason | RowRefusal:
    return RowRefusal(
        "group_id",
        "only_one_group",
        "is an opt-out from one group only; import it as preferences, or give a reason",
    )


_POSTMARK = {
    "hardbounce": SuppressionReason.HARD_BOUNCE,
    "spamcomplaint": SuppressionReason.COMPLAINT,
    "manualsuppression": SuppressionReason.MANUAL,
}


def _postmark(row: Mapping[str, Any]) -> SuppressionReason | RowRefusal:
    found = _POSTMARK.get(str(row.get("suppressionreason", "")).replace(" ", "").lower())
    if found is None:
        return RowRefusal(
            "SuppressionReason", "unknown_reason", "must be HardBounce, SpamComplaint or ManualSuppression"
        )
    # What a recipient did by hand is an opt-out of their own.
    by_recipient = str(row.get("origin", "")).strip().lower() == "recipient"
    return SuppressionReason.OPT_OUT if found is SuppressionReason.MANUAL and by_recipient else found


_SES = {"BOUNCE": SuppressionReason.HARD_BOUNCE, "COMPLAINT": SuppressionReason.COMPLAINT}


def _ses(row: Mapping[str, Any]) -> SuppressionReason | RowRefusal:
    found = _SES.get(str(row.get("reason", "")).strip().upper())
    return found or RowRefusal("Reason", "unknown_reason", "must be BOUNCE or COMPLAINT")


#: Where each service has the date: SendGrid in unix seconds, Mailgun as mail has it (RFC 2822), the others in ISO 8601.
_DATES: Mapping[str, tuple[str, ...]] = {
    "sendgrid": ("created", "created_at"),
    "mailgun": ("created_at",),
    "postmark": ("createdat",),
    "ses": ("lastupdatetime",),
}


def _shape(
    format_name: FormatName,
    name: str,
    columns: str,
    reason: ReasonOf,
    address: tuple[str, ...],
) -> ListFormat:
    """`columns`: those that must be there, then in brackets those that may be; `[*]` for any."""
    required, _, optional = columns.partition("[")
    return ListFormat(
        format=format_name,
        name=name,
        required=frozenset(required.split()),
        optional=None if optional == "*]" else frozenset(optional.removesuffix("]").split()),
        address=address,
        date=_DATES[format_name],
        reason=reason,
    )


_EMAIL, _ADDRESS, _POSTMARK_ADDRESS = ("email",), ("address",), ("emailaddress", "recipient")

#: In the order in which they are tried: those with more columns first.
SHAPES: Sequence[ListFormat] = (
    _shape("sendgrid", "bounces or blocks", "status reason email created", _bounce("status"), _EMAIL),
    _shape("sendgrid", "group unsubscribes", "email group_id [group_name created created_at]", _sendgrid_group, _EMAIL),
    _shape("sendgrid", "group unsubscribes", "email group_name [created created_at]", _sendgrid_group, _EMAIL),
    _shape("sendgrid", "spam reports", "ip email created", _always(SuppressionReason.COMPLAINT), _EMAIL),
    _shape("sendgrid", "invalid addresses", "reason email created", _always(SuppressionReason.INVALID_ADDRESS), _EMAIL),
    _shape("sendgrid", "global unsubscribes", "email created", _always(SuppressionReason.OPT_OUT), _EMAIL),
    _shape("mailgun", "bounces", "address code error [created_at messagehash]", _bounce("code"), _ADDRESS),
    _shape("mailgun", "unsubscribes", "address tags [created_at id]", _mailgun_unsubscribe, _ADDRESS),
    _shape("mailgun", "unsubscribes", "address tag [created_at id]", _mailgun_unsubscribe, _ADDRESS),
    _shape("mailgun", "complaints", "address created_at [count]", _always(SuppressionReason.COMPLAINT), _ADDRESS),
    _shape("postmark", "suppressions", "suppressionreason emailaddress [*]", _postmark, _POSTMARK_ADDRESS),
    _shape("postmark", "suppressions", "suppressionreason recipient [*]", _postmark, _POSTMARK_ADDRESS),
    _shape("ses", "suppression list", "emailaddress reason [lastupdatetime attributes]", _ses, ("emailaddress",)),
)  # fmt: skip

#: The columns of SES' list for bulk changes, which has no headings.
SES_BARE = ("EmailAddress", "Reason")


def is_bare_ses(header: Sequence[str]) -> bool:
    """Whether the first line is already an address and SES' word for why."""
    return len(header) == 2 and "@" in header[0] and header[1].strip().upper() in _SES


def recognise(columns: Sequence[str], wanted: FormatName) -> ListFormat | None:
    """The list that has these columns (spelt small), among those of one service or of all; None: none of them."""
    present = frozenset(columns)
    for shape in SHAPES:
        if wanted not in ("auto", shape.format) or not shape.required <= present:
            continue
        # Who names the service may bring columns that we have not seen yet.
        if wanted != "auto" or shape.optional is None or present <= shape.required | shape.optional:
            return shape
    return None


def generic_columns(columns: Sequence[str], mapping: Mapping[str, str], *, sure: bool) -> dict[str, str]:
    """Field → column of a generic file; an `UnreadableFileError` where none holds an address.

    `sure`: the caller said that it is generic. Otherwise it has to be plain from its headings.
    """
    by_name = {name.lower(): name for name in columns}
    found: dict[str, str] = {}
    for field, column in mapping.items():
        known = by_name.get(column.lower())
        if known is None:
            raise UnreadableFileError(
                f"names a column for {field} that the file does not have", field="mapping"
            )
        found[field] = known
    for field in FIELDS:
        if field not in found and field in by_name and field not in mapping:
            found[field] = by_name[field]
    if "date" not in found and OUR_DATE in by_name:
        found["date"] = by_name[OUR_DATE]
    if "address" not in found and (sure or mapping):
        other = next((name for name in _ADDRESS_NAMES if name in by_name), None)
        if other is not None:
            found["address"] = by_name[other]
    if "address" not in found or not (sure or mapping or {"channel", "reason"} & found.keys()):
        lists = "; ".join(
            dict.fromkeys(f"{s.format} {s.name}: {', '.join(sorted(s.required))}" for s in SHAPES)
        )
        raise UnreadableFileError(
            "is of no known format by its headings; name it with format=…, or say with "
            f"format=generic&mapping=address:<column> where the addresses are. Known are {lists}",
            field="format",
        )
    return found
