"""When the steps of a policy begin at the latest; no I/O."""

from datetime import timedelta

from tidings.router.policies.model import PolicyTerms


def beginnings(terms: PolicyTerms) -> list[timedelta]:
    """For each step, counted from the first; PARALLEL begins all of them at once."""
    if terms.strategy == "PARALLEL":
        return [timedelta()] * len(terms.ladder)
    found, begins = [], timedelta()
    for step in terms.ladder:
        found.append(begins)
        begins += timedelta(seconds=step.deadline_seconds)
    return found


def told(span: timedelta) -> str:
    """As people say it: `90 s`, `15 min`, `36 h`, `5 d`."""
    for unit, seconds in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if span.total_seconds() >= 2 * seconds:
            return f"{span.total_seconds() / seconds:.3g} {unit}"
    return f"{span.total_seconds():g} s"
