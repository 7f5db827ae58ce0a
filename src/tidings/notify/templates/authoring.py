"""Checks, compiles and tries what tenants write, in child processes of its own: nothing of it holds up what is sent.

A tenant has one child at a time and a budget of processor time; a child that takes too long or too much is killed, and
the caller is told so.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import msgspec

from tidings.contracts.templates import TemplateFinding
from tidings.kernel.mapping import by_name
from tidings.kernel.refusals import FieldError, InvalidError
from tidings.notify.render.budget import Budget
from tidings.notify.render.errors import ChildDiedError
from tidings.notify.render.lane import RenderLane
from tidings.notify.render.model import Brand, Content, Rendered, RenderFailed, RenderJob, RenderLimits
from tidings.notify.templates.assemble import AssemblyContext
from tidings.notify.templates.bundle.layout import FACTS
from tidings.notify.templates.diff import DiffView
from tidings.notify.templates.errors import TooMuchCheckingError
from tidings.notify.templates.model import LocaleText, TemplateVersion
from tidings.notify.templates.sample_faults import FailingExpression
from tidings.notify.templates.validate import ValidationReport, ValidationRequest

_PROGRAM: Final = "tidings.notify.templates.child"
#: Of one version, one preview, one comparison.
LIMITS: Final = RenderLimits(
    seconds=20.0,
    slice_seconds=20.0,
    heap_bytes=256 * 1024 * 1024,
    memory_bytes=512 * 1024 * 1024,
    resident_bytes=768 * 1024 * 1024,
    nice=15,
)
#: Seconds of processor time that a tenant has at once, and that it gets back in a minute.
AT_ONCE: Final = 30.0
PER_MINUTE: Final = 20.0
#: Calls of one tenant that wait or are at work.
MOST_WAITING: Final = 8
_WORDS: Final = {
    "took_too_long": (
        "it takes too long to check",
        "make the texts smaller, or take nested elements and loops out",
    ),
    "needed_too_much_memory": (
        "it takes too much memory to check",
        "make the texts smaller, and close every element that is opened",
    ),
    "killed_the_renderer": (
        "the tools that read it can't read it",
        "make the texts simpler; elements must not nest deeply",
    ),
}
_NOTHING: Final = RenderFailed(code="template_broken", detail="the template can't be rendered")
_T = TypeVar("_T")


class ReportAnswer(msgspec.Struct, frozen=True):
    """A report as a child gives it."""

    findings: tuple[TemplateFinding, ...]
    locales: dict[str, LocaleText]


class TryAsk(msgspec.Struct, frozen=True, kw_only=True):
    """A message to be tried: a `RenderJob` with its variables read."""

    content: Content
    variables: dict[str, Any]
    locale: str
    time_zone: str
    allowed_link_domains: tuple[str, ...]
    recipient_name: str | None
    tenant_name: str | None
    brand: Brand
    unsubscribe_url: str | None
    preferences_url: str | None
    own_hosts: tuple[str, ...]

    @classmethod
    def of(cls, job: RenderJob, own_hosts: tuple[str, ...]) -> "TryAsk":
        """A job, and which hosts are ours."""
        given = job.variables
        return by_name(
            cls,
            job,
            variables=msgspec.json.decode(given) if isinstance(given, msgspec.Raw) else dict(given),
            own_hosts=own_hosts,
        )

    def job(self) -> RenderJob:
        """The job."""
        return by_name(RenderJob, self, tenant="")


class TryAnswer(msgspec.Struct, frozen=True):
    """One of the two."""

    rendered: Rendered | None = None
    failed: RenderFailed | None = None


class FailingAnswer(msgspec.Struct, frozen=True):
    """Where it fails, where that is known."""

    found: FailingExpression | None = None


class PreheaderAsk(msgspec.Struct, frozen=True):
    """The text of one locale that shows beside the subject."""

    version: TemplateVersion
    locale: str
    around: AssemblyContext


class FailingAsk(msgspec.Struct, frozen=True, kw_only=True):
    """Where a message fails."""

    trial: TryAsk
    failed: RenderFailed
    version: TemplateVersion
    locale: str
    around: AssemblyContext


class DiffAsk(msgspec.Struct, frozen=True):
    """Two versions to be compared."""

    before: TemplateVersion
    after: TemplateVersion


class Authoring:
    """The children for authors, and what each tenant has used; belongs to one event loop."""

    def __init__(
        self,
        *,
        own_hosts: Sequence[str] = (),
        limits: RenderLimits = LIMITS,
        budget: Budget | None = None,
        children: int = 2,
    ) -> None:
        self.own_hosts = tuple(own_hosts)
        self.budget = budget or Budget(at_once=AT_ONCE, per_minute=PER_MINUTE)
        self.lane = RenderLane(_PROGRAM, limits, children=children, of_a_tenant=1, ends_idle=True)

    def of(self, tenant_id: str | None) -> "TenantAuthoring":
        """The same for one tenant; None: the platform, which has no budget."""
        return TenantAuthoring(self, tenant_id or "")

    async def close(self) -> None:
        """End the children."""
        await self.lane.close()


@dataclass(slots=True)
class TenantAuthoring:
    """One request of one tenant: its budget is looked at once, so that what was begun is brought to its end."""

    _all: Authoring
    _tenant: str
    _admitted: bool = False

    async def validate(self, asked: ValidationRequest) -> ValidationReport:
        """Everything that is wrong with a version, and its compiled texts."""
        try:
            found = await self._call("validate", asked, ReportAnswer)
        except ChildDiedError as error:
            what, how = _WORDS[error.reason]
            file = f"{asked.around.folder}/{FACTS}"
            finding = TemplateFinding(severity="error", file=file, field="locales", what=what, how=how)
            return ValidationReport(findings=(finding,), locales={})
        return ValidationReport(findings=found.findings, locales=found.locales)

    async def preheader(self, version: TemplateVersion, locale: str, around: AssemblyContext) -> str | None:
        """The whole source of a locale's preheader."""
        if version.locales[locale].source.preheader is None:
            return None
        try:
            return await self._call("preheader", PreheaderAsk(version, locale, around), str)
        except ChildDiedError:
            return None

    async def render(self, jobs: Sequence[RenderJob]) -> list[Rendered | RenderFailed]:
        """One result for each job, in their order."""
        done: list[Rendered | RenderFailed] = []
        for job in jobs:
            try:
                found = await self._call("try", TryAsk.of(job, self._all.own_hosts), TryAnswer)
            except ChildDiedError as error:
                detail = f"the template was stopped: {error}"
                done.append(RenderFailed(code=error.reason, detail=detail, locale=job.content.locale))
            else:
                done.append(found.rendered or found.failed or _NOTHING)
        return done

    async def failing(
        self,
        job: RenderJob,
        failed: RenderFailed,
        *,
        version: TemplateVersion,
        locale: str,
        around: AssemblyContext,
    ) -> FailingExpression | None:
        """Where a job fails in what its author wrote; None where that can't be known."""
        ask = FailingAsk(
            trial=TryAsk.of(job, self._all.own_hosts),
            failed=failed,
            version=version,
            locale=locale,
            around=around,
        )
        try:
            return (await self._call("failing", ask, FailingAnswer)).found
        except ChildDiedError:
            return None

    async def diff(self, before: TemplateVersion, after: TemplateVersion) -> DiffView:
        """What is different between two versions."""
        try:
            return await self._call("diff", DiffAsk(before, after), DiffView)
        except ChildDiedError as error:
            much = "much memory" if error.reason == "needed_too_much_memory" else "long"
            raise InvalidError(
                [
                    FieldError(
                        "to", f"takes too {much} to be compared; read both versions, and compare their texts"
                    )
                ]
            ) from None

    async def _call(self, name: str, asked: Any, kind: type[_T]) -> _T:
        self._admit()
        try:
            return await self._call_once(name, asked, kind)
        except ChildDiedError as error:
            if error.reason != "killed_the_renderer":
                raise
        # Perhaps another call killed it; a second time it is this one.
        return await self._call_once(name, asked, kind)

    async def _call_once(self, name: str, asked: Any, kind: type[_T]) -> _T:
        lane, budget = self._all.lane, self._all.budget
        async with lane.child(self._tenant) as child:
            try:
                answer = await child.call(name, msgspec.json.encode(asked))
                found = msgspec.json.decode(answer.body, type=kind)
            except msgspec.MsgspecError:
                child.kill("killed_the_renderer")
                raise ChildDiedError("killed_the_renderer", seconds=0.0) from None
            except ChildDiedError as error:
                # Another one has to be started in its place.
                budget.charge(self._tenant, error.seconds + child.start_seconds)
                raise
        budget.charge(self._tenant, answer.seconds)
        return found

    def _admit(self) -> None:
        if self._admitted or not self._tenant:
            return
        if wait := self._all.budget.wait_of(self._tenant):
            raise TooMuchCheckingError(
                f"checking and showing your templates has taken more than the {self._all.budget.per_minute:g} seconds"
                " of processor time that a tenant has in a minute; wait, and make the texts smaller",
                retry_after=wait,
            )
        if self._all.lane.waiting(self._tenant) >= MOST_WAITING:
            raise TooMuchCheckingError(
                f"{MOST_WAITING} checks or previews of yours are waiting already; ask for one after the other",
                retry_after=1,
            )
        self._admitted = True
