"""Has the validator look at every draft of a zip, as far as the time of one answer reaches; what it did not reach is told."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tidings.contracts.templates import TemplateFinding
from tidings.kernel.clock import Clock
from tidings.notify.render.errors import RenderInterruptedError
from tidings.notify.templates.authoring import TenantAuthoring
from tidings.notify.templates.bundle.findings import warning
from tidings.notify.templates.bundle.layout import FACTS
from tidings.notify.templates.errors import TooMuchCheckingError
from tidings.notify.templates.read_version import ReadVersion

#: Of one zip. Our own client waits for 30 seconds, and the drafts are written before this begins.
SECONDS: Final = 15.0
#: A longer report is of no use; versions that come after it are reported as not looked at.
MOST_FINDINGS: Final = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedDrafts:
    """What the validator found."""

    findings: Sequence[TemplateFinding]
    #: How many drafts it did not look at; each has a warning among the findings.
    unreached: int


async def check_drafts(
    drafts: Sequence[ReadVersion], *, engine: TenantAuthoring, clock: Clock, seconds: float = SECONDS
) -> CheckedDrafts:
    """One draft after the other, until all are done or the time is over; no transaction is open."""
    until = clock.monotonic() + seconds
    findings: list[TemplateFinding] = []
    for place, draft in enumerate(drafts):
        why = None
        if clock.monotonic() >= until:
            why = f"its {seconds:g} seconds for one zip were over"
        elif len(findings) >= MOST_FINDINGS:
            why = f"it had found {len(findings)} things in others before"
        if why is not None:
            return _cut_off(findings, drafts[place:], why)
        try:
            findings += (await draft.validated(engine)).findings
        except (TooMuchCheckingError, RenderInterruptedError) as error:
            # The drafts are written: an answer that refuses would say that they are not.
            return _cut_off(findings, drafts[place:], str(error))
    return CheckedDrafts(findings=findings, unreached=0)


def _cut_off(findings: Sequence[TemplateFinding], rest: Sequence[ReadVersion], why: str) -> CheckedDrafts:
    return CheckedDrafts(findings=[*findings, *(_unreached(one, why) for one in rest)], unreached=len(rest))


def _unreached(draft: ReadVersion, why: str) -> TemplateFinding:
    what = f"was not looked at by the validator: {why}"
    return warning(f"{draft.around.folder}/{FACTS}", what, "validate it by itself, or send fewer at once")
