"""What the route of subject access needs; `bootstrap` fills it."""

from dataclasses import dataclass

from tidings.notify.subject_access.export import SubjectExporter


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """The parts that an export touches."""

    exporter: SubjectExporter
