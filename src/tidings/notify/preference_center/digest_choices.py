"""When a recipient wants messages of a category gathered into one: what the page offers, and what its form says; no I/O."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct, structs

from tidings.contracts.tenants import Channel, Day, DigestChoice
from tidings.notify.categories.model import CategoryPolicy
from tidings.notify.digest_windows.schedule import about_security, in_force, schedule_faults
from tidings.notify.recipients.preferences_model import Choices

#: A form that the page offers: one by one, at the full hour, once a day, once a week.
Form = Literal["now", "hour", "day", "week"]
#: What a list of forms says beside them: as the tenant has it, and as they have it by other means than the page.
USUAL: Final = "usual"
KEPT: Final = "kept"
#: The fields of the form, each followed by a category.
WHEN: Final = "when:"
AT: Final = "at:"
DAY: Final = "day:"

_NEVER: Final = DigestChoice(every="never")
#: The least that each form needs, to ask whether it can act.
_FORMS: Final[Mapping[Form, DigestChoice]] = {
    "hour": DigestChoice(every="hour"),
    "day": DigestChoice(every="day"),
    "week": DigestChoice(every="week"),
}
_PLAIN: Final[Mapping[str, Form]] = {"never": "now", "hour": "hour", "day": "day"}
#: As schedules have it that name none.
_USUAL_TIME: Final = "09:00"
_USUAL_DAY: Final[Day] = "mon"


class WrongDigestError(Exception):
    """The form says what no schedule can."""


class DigestOffer(Struct, frozen=True, kw_only=True):
    """How messages of a category may come."""

    #: What they chose; None: the tenant's schedule holds.
    own: DigestChoice | None
    #: The tenant's; None: one by one.
    usual: DigestChoice | None
    #: Those that can act: a digest has to come before its messages expire.
    forms: tuple[Form, ...]

    @property
    def chosen(self) -> str:
        """Which of the list is chosen: a form, `usual` or `kept`."""
        if self.own is None:
            return USUAL
        form = _form(self.own)
        return form if form in self.forms else KEPT

    @property
    def at(self) -> str:
        """The hour that is shown, whether it counts or not."""
        return _at(self.own or self.usual or _NEVER)

    @property
    def day(self) -> Day:
        """The day that is shown."""
        return min(_days(self.own or self.usual or _NEVER), default=_USUAL_DAY)


def digest_offer(
    choices: Choices,
    policy: CategoryPolicy,
    usual: DigestChoice | None,
    *,
    channels: Iterable[Channel],
    gathering: Collection[Channel],
) -> DigestOffer | None:
    """What can be chosen for a category; None where its messages are never gathered.

    `channels` are those that they are reached by, `gathering` those that a digest of the category can come by.
    """
    if not policy.may_digest or about_security(policy.category, policy.default_use_case):
        return None
    if not set(channels) & set(gathering):
        return None
    forms = [
        form
        for form, least in _FORMS.items()
        if not schedule_faults(
            least, at="", may_digest=policy.may_digest, expires_after=policy.default_expiry_seconds
        )
    ]
    own, usual = choices.digest_schedule.get(policy.category), in_force(None, usual)
    if not forms and own is None and usual is None:
        return None
    return DigestOffer(own=own, usual=usual, forms=("now", *forms))


def with_digests(before: Choices, offers: Mapping[str, DigestOffer], said: Mapping[str, str]) -> Choices:
    """The choices of somebody whose form says this; a `WrongDigestError` where it says nonsense.

    Whether a schedule can act is left to the check that every change of preferences passes.
    """
    schedule = dict(before.digest_schedule)
    for category, offer in offers.items():
        wish = said.get(WHEN + category)
        # What the page did not ask, it does not change; nor what another program has chosen and they left.
        if wish is None or wish == KEPT:
            continue
        if wish == USUAL:
            schedule.pop(category, None)
            continue
        chosen = _read(wish, at=said.get(AT + category), day=said.get(DAY + category))
        in_use = offer.own or offer.usual
        if in_use is not None and in_use.merge_unread and chosen.every != "never":
            # The page does not ask: it stays as it is.
            chosen = structs.replace(chosen, merge_unread=True)
        if offer.own is None or not _same(chosen, offer.own):
            schedule[category] = chosen
    return structs.replace(before, digest_schedule=schedule)


def _read(wish: str, *, at: str | None, day: str | None) -> DigestChoice:
    if wish == "now":
        return _NEVER
    if wish not in _FORMS:
        raise WrongDigestError(f"{WHEN}: no form of a digest")
    told: dict[str, Any] = {"every": wish}
    if wish in ("day", "week"):
        # An empty field is a field that was left alone.
        told["at"] = at or _USUAL_TIME
    if wish == "week":
        told["day"] = day or _USUAL_DAY
    try:
        return msgspec.convert(told, DigestChoice)
    except msgspec.ValidationError as error:
        raise WrongDigestError(f"{AT} or {DAY}: no time of day, or no day") from error


def _form(choice: DigestChoice) -> Form | None:
    """The form of the page that says the same; None where none does."""
    if choice.every == "week":
        return "week" if len(_days(choice)) == 1 else None
    return _PLAIN.get(choice.every)


def _same(one: DigestChoice, other: DigestChoice) -> bool:
    return (one.every, _at(one), _days(one)) == (other.every, _at(other), _days(other))


def _at(choice: DigestChoice) -> str:
    return choice.at or _USUAL_TIME


def _days(choice: DigestChoice) -> frozenset[Day]:
    if choice.every != "week":
        return frozenset()
    return frozenset(choice.days or (choice.day or _USUAL_DAY,))
