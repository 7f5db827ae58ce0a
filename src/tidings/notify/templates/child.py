"""The program of the child processes in which tenants' texts are read: validated, compiled, tried, compared.

Started by `authoring.Authoring` alone; it has no keys and no database.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from tidings.notify.render.batch_payload import render_call, results_of
from tidings.notify.render.child import Ability, run
from tidings.notify.render.isolate import Isolate
from tidings.notify.render.model import Rendered, RenderFailed, RenderJob, RenderLimits
from tidings.notify.render.process import Loaded
from tidings.notify.templates.assemble import assemble
from tidings.notify.templates.authoring import (
    DiffAsk,
    FailingAnswer,
    FailingAsk,
    PreheaderAsk,
    ReportAnswer,
    TryAnswer,
    TryAsk,
)

# Loaded now: when the first call comes, nothing is left to be looked for.
from tidings.notify.templates.compile import locale_content as _  # noqa: F401
from tidings.notify.templates.diff import diff
from tidings.notify.templates.sample_faults import failing_at
from tidings.notify.templates.validate import ValidationRequest, examine

_encode: Final = msgspec.json.Encoder().encode
_decode_asked: Final = msgspec.json.Decoder(ValidationRequest).decode
_decode_try: Final = msgspec.json.Decoder(TryAsk).decode
_decode_preheader: Final = msgspec.json.Decoder(PreheaderAsk).decode
_decode_failing: Final = msgspec.json.Decoder(FailingAsk).decode
_decode_diff: Final = msgspec.json.Decoder(DiffAsk).decode


class LocalTools:
    """The tools in this process."""

    def __init__(self, isolate: Isolate, limits: RenderLimits, own_hosts: Sequence[str] = ()) -> None:
        self._isolate = isolate
        self._limits = limits
        self._own_hosts = tuple(own_hosts)
        self._loaded = Loaded()

    def parse(self, source: str) -> Mapping[str, Any]:
        """`{"tree"}` or `{"error"}`."""
        try:
            found: dict[str, Any] = msgspec.json.decode(self._isolate.call("parse", source))
        except RecursionError:
            return {"error": "expressions are nested too deeply; take some out"}
        return found

    def render(self, jobs: Sequence[RenderJob]) -> list[Rendered | RenderFailed]:
        """One result for each job, in their order."""
        done: list[Rendered | RenderFailed] = []
        while len(done) < len(jobs):
            rest = jobs[len(done) : len(done) + self._limits.set_size]
            call = render_call(self._loaded, rest, limits=self._limits, own_hosts=self._own_hosts)
            for name, argument in call.loads:
                self._isolate.call(name, argument)
            answer = self._isolate.render_set(call.jobs, call.slice_ms)
            done += results_of(rest, answer.encode("utf-8", "surrogatepass"))
        return done

    def for_hosts(self, own_hosts: Sequence[str]) -> "LocalTools":
        """The same, where links to these hosts are ours."""
        self._own_hosts = tuple(own_hosts)
        return self


def abilities(isolate: Isolate, limits: RenderLimits) -> Mapping[str, Ability]:
    """What authors need."""
    tools = LocalTools(isolate, limits)

    def validate(body: bytes) -> bytes:
        asked = _decode_asked(body)
        report = examine(asked, tools.for_hosts(asked.links.own_hosts))
        return _encode(ReportAnswer(report.findings, dict(report.locales)))

    def try_one(body: bytes) -> bytes:
        asked = _decode_try(body)
        [done] = tools.for_hosts(asked.own_hosts).render([asked.job()])
        return _encode(TryAnswer(done) if isinstance(done, Rendered) else TryAnswer(None, done))

    def preheader(body: bytes) -> bytes:
        asked = _decode_preheader(body)
        return _encode(assemble(asked.version, asked.locale, asked.around).source.preheader)

    def failing(body: bytes) -> bytes:
        asked = _decode_failing(body)
        made = assemble(asked.version, asked.locale, asked.around)
        known = tools.for_hosts(asked.trial.own_hosts)
        return _encode(FailingAnswer(failing_at(known, made, asked.trial.job(), asked.failed)))

    def compare(body: bytes) -> bytes:
        asked = _decode_diff(body)
        return _encode(diff(asked.before, asked.after))

    return {
        "validate": validate,
        "try": try_one,
        "preheader": preheader,
        "failing": failing,
        "diff": compare,
    }


if __name__ == "__main__":
    run(abilities)
