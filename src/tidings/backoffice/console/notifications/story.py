"""The timeline of a notification: every decision, attempt, vendor's word and change of status, as one story."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from tidings.backoffice.console.html import Child, Html, el, join
from tidings.backoffice.console.kit.marks import TONES, Tone, moment, section, timeline
from tidings.backoffice.console.strings import ConsoleStrings
from tidings.backoffice.console.visits import Visit

#: What a kind of entry means, beside those that are statuses.
_TONES: Final[Mapping[str, Tone]] = {
    **dict.fromkeys(("accepted", "triggered", "scheduled", "dispatched"), "info"),
    **dict.fromkeys(("deferred", "step_deferred", "waited", "given_up", "step_skipped"), "warn"),
    **dict.fromkeys(("read", "opened", "clicked", "seen", "acted", "stored"), "good"),
}
_GOOD: Final = frozenset({"accepted", "sent", "delivered", "delivered_read", "opened", "clicked"})


def story(visit: Visit, explained: Mapping[str, Any], *, live: int | None) -> Html:
    """What happened when, and what comes next."""
    words = visit.words
    begun = datetime.fromisoformat(explained["notification"]["created_at"])
    entries: list[tuple[Child, Child, Tone]] = [
        (_when(words, one, begun), _what(words, one), tone_of(one))
        for one in _told_once(explained["timeline"])
    ]
    coming = explained["next"]
    if coming is not None:
        title = words.get(f"notifications.coming.{coming['what']}", coming["what"])
        text = el("span", coming["text"], lang="en", dir="auto", class_="soft")
        when = moment(coming["at"], exact=True) if coming["at"] else words["notifications.soon"]
        entries.append((when, join(el("span", title, class_="strong"), el("br"), text), ""))
    zone = ((explained["preferences"] or {}).get("now") or {}).get("timezone")
    hint = words["notifications.their_zone"].replace("{zone}", zone) if zone not in (None, "UTC") else None
    return section(
        words["notifications.timeline"],
        el("p", hint, class_="hint") if hint else None,
        timeline(entries),
        id_="timeline",
        live=live,
    )


def _told_once(found: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """How the ladder ended, and the status that followed from it at that moment, are one thing: the more telling words stay."""
    before: Mapping[str, Any] | None = None
    for one in found:
        if before is not None and not (one["kind"] in TONES and one["at"] == before["at"]):
            yield before
            before = None
        if one["kind"] == "outcome":
            before = one
        elif before is not None:
            yield {**one, "text": before["text"]} if before.get("result") == "DELIVERED" else one
            before = None
        else:
            yield one
    if before is not None:
        yield before


def tone_of(one: Mapping[str, Any]) -> Tone:
    """Whether something that happened was good."""
    kind = one["kind"]
    if kind in ("attempt", "receipt"):
        return "good" if one.get("status") in _GOOD else "bad"
    if kind == "decided":
        return "good" if one.get("verdict") == "send" else "bad"
    if kind == "outcome":
        return "good" if one.get("result") == "DELIVERED" else "bad"
    return _TONES.get(kind) or TONES.get(kind, "")


def _when(words: ConsoleStrings, one: Mapping[str, Any], begun: datetime) -> Html:
    at = datetime.fromisoformat(one["at"])
    after = (at - begun).total_seconds()
    about = "≈ " if one.get("approximate") else ""
    return join(
        about, moment(at, exact=True), el("span", " · ", _after(words, after)) if after >= 0.05 else None
    )


def _after(words: ConsoleStrings, seconds: float) -> Html:
    """How long after it was accepted."""
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= 2 * size:
            return el("bdi", f"+{seconds / size:.0f} {words[f'notifications.unit.{unit}']}")
    shown = f"{seconds:.0f}" if seconds >= 10 else f"{seconds:.1f}"
    return el("bdi", f"+{shown} {words['notifications.unit.second']}")


def _what(words: ConsoleStrings, one: Mapping[str, Any]) -> Html:
    kind = one["kind"]
    title = words.get(f"notifications.kind.{kind}", kind.replace("_", " "))
    place = [
        words["notifications.step"].replace("{step}", str(one["step"])) if one.get("step") else None,
        words.channel(one["channel"]) if one.get("channel") else None,
        el("bdi", one["vendor"]) if one.get("vendor") else None,
        el("bdi", f"{one['took_ms']} ms", dir="ltr") if one.get("took_ms") is not None else None,
    ]
    beside = join(*place, between=" · ")
    codes = [
        el("code", word, dir="ltr") for word in dict.fromkeys((one.get("reason"), one.get("meaning"))) if word
    ]
    until = one.get("until")
    return join(
        el("span", title, class_="strong"),
        el("span", " ", beside, class_="soft") if beside else None,
        el("br"),
        el("span", one["text"], lang="en", dir="auto"),
        join(" ", *codes, between=" ") if codes else None,
        el("span", " ", words["notifications.until_when"], " ", moment(until, exact=True), class_="soft")
        if until
        else None,
    )
