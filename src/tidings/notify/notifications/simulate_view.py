"""A simulation as JSON."""

from typing import Literal

from msgspec import Struct

from tidings.contracts.moments import Moment
from tidings.kernel.mapping import by_name
from tidings.notify.decide.model import Gate
from tidings.notify.dispatch.files import FILES_LEFT_OUT
from tidings.notify.notifications.explain_view import GateView
from tidings.notify.notifications.messages_en import line_sentence, reason_sentence
from tidings.notify.notifications.simulate import Simulation, TriedStep, Would
from tidings.notify.render.model import Rendered

_NOT_TAKEN = "Rate limits are not taken from in a rehearsal: whether they have room is seen when it is sent."


class SimulatedStep(Struct, frozen=True, kw_only=True):
    """What would become of one step of the ladder; a later one is taken only if those before it fail."""

    step: int
    channel: str
    #: Null where the tenant has not set the channel up.
    vendor: str | None
    verdict: Literal["pass", "stop", "defer"]
    #: A code.
    reason: str | None
    explanation: str
    until: Moment | None

    @classmethod
    def of(cls, tried: TriedStep) -> "SimulatedStep":
        """A step as it is shown."""
        line = tried.line
        told = "It would be sent." if line.verdict == "pass" else line_sentence(line)
        if line.reason == FILES_LEFT_OUT:
            told += f" {line_sentence(line)}"
        return cls(
            step=tried.step,
            channel=tried.channel,
            vendor=tried.vendor,
            verdict=line.verdict,
            reason=line.reason if line.verdict != "pass" or line.reason == FILES_LEFT_OUT else None,
            explanation=told,
            until=line.until,
        )


class SimulatedTemplate(Struct, frozen=True, kw_only=True):
    """Which text it would be."""

    id: str
    key: str
    version: str
    version_id: str


class SimulatedPreferences(Struct, frozen=True, kw_only=True):
    """Whose preferences it was decided by."""

    #: Null where the recipient is not known yet.
    recipient_id: str | None
    #: 0 where nothing was ever chosen; null where it never came so far.
    version: int | None


class MessageView(Struct, frozen=True, kw_only=True):
    """A message as the person sees it."""

    channel: str
    subject: str | None
    text: str | None
    html: str | None
    #: The language of the texts.
    locale: str
    direction: Literal["ltr", "rtl"]

    def __repr__(self) -> str:
        return f"MessageView(locale={self.locale!r}, ***)"

    @classmethod
    def of(cls, channel: str, rendered: Rendered) -> "MessageView":
        """The words of a message."""
        return by_name(cls, rendered, channel=channel)


class BodyView(MessageView, frozen=True, kw_only=True):
    """The body of a notification, rendered once more."""

    #: Whether its digest proves that it is what was sent; null where that can't be said.
    exact: bool | None
    #: The template's pictures that it carries, by name; the HTML shows each by a `cid:` that begins with it.
    pictures: tuple[str, ...]


class SimulationView(Struct, frozen=True, kw_only=True):
    """What would happen; nothing was written and nothing was sent."""

    would: Would
    #: The moment that was decided for: when it is scheduled for, or else now.
    at: Moment
    #: Until when it would wait.
    until: Moment | None
    #: Why it would wait or not be sent: a code.
    reason: str | None
    #: The same as a sentence, to be read aloud.
    summary: str
    #: What each gate said, up to the step that would be taken.
    decision: list[GateView]
    steps: list[SimulatedStep]
    template: SimulatedTemplate
    preferences: SimulatedPreferences
    #: Null where it would not be sent.
    message: MessageView | None
    #: What a rehearsal can't know.
    notes: list[str]


def simulation_view(done: Simulation) -> SimulationView:
    """A simulation as it is shown."""
    published = done.order.published
    return SimulationView(
        would=done.would,
        at=done.at,
        until=done.until,
        reason=done.reason if done.would != "send" else None,
        summary=_summary(done),
        decision=_decision(done),
        steps=[SimulatedStep.of(step) for step in done.steps],
        template=SimulatedTemplate(
            id=published.template.id,
            key=published.template.key,
            version=str(published.version.semver),
            version_id=published.version.id,
        ),
        preferences=SimulatedPreferences(
            recipient_id=done.decision.recipient_id if done.recipient_known else None,
            version=done.decision.preferences_version,
        ),
        message=MessageView.of(done.channel, done.message)
        if done.message is not None and done.channel is not None
        else None,
        notes=[_NOT_TAKEN] if done.not_asked else [],
    )


def _decision(done: Simulation) -> list[GateView]:
    lines = [GateView.of(line) for line in done.decision.trace]
    if Gate.LIMITS in done.not_asked:
        lines.append(_not_asked(Gate.LIMITS, None))
    for tried in done.steps:
        for line in tried.lines:
            limit = line.gate == Gate.CHANNEL_LIMIT
            lines.append(
                _not_asked(Gate.CHANNEL_LIMIT, tried.step)
                if limit and Gate.CHANNEL_LIMIT in done.not_asked
                else GateView.of(line)
            )
        if tried.line.verdict != "stop":
            break
    return lines


def _not_asked(gate: Gate, step: int | None) -> GateView:
    return GateView(
        gate=gate.value, verdict="not_asked", reason=None, explanation=_NOT_TAKEN, step=step, until=None
    )


def _summary(done: Simulation) -> str:
    if done.would == "send":
        bare = any(
            line.reason == FILES_LEFT_OUT
            for step in done.steps
            if step.channel == done.channel
            for line in step.lines
        )
        without = f" {reason_sentence(FILES_LEFT_OUT)}" if bare else ""
        return f"It would be sent by {done.channel}.{without}"
    why = reason_sentence(done.reason) or ""
    return f"{'It would wait.' if done.would == 'defer' else 'It would not be sent.'} {why}".rstrip()
