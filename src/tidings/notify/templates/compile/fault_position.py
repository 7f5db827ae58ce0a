"""Faults at a place of a markup."""

from tidings.notify.templates.faults import Fault, Severity


def fault_at(markup: str, at: int, what: str, how: str, *, severity: Severity = "error") -> Fault:
    """A fault where the markup has come to `at`, counted from 0."""
    return Fault(
        what,
        how,
        line=markup.count("\n", 0, at) + 1,
        column=at - markup.rfind("\n", 0, at),
        severity=severity,
    )
