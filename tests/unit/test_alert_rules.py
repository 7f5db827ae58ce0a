"""Every alert says what to do, and is about something that is counted where somebody can look."""

import pytest

from tests.support.alert_rules import RULES
from tests.support.generated_docs import DOCS, all_metrics


@pytest.mark.parametrize("alert", RULES)
def test_it_says_what_to_do_and_the_runbook_says_more(alert: str) -> None:
    notes, runbook = RULES[alert]["annotations"], (DOCS / "runbook.md").read_text()

    assert notes["summary"]
    assert notes["description"]
    assert notes["runbook"] == f"docs/runbook.md#{alert.lower()}"
    section = runbook.partition(f"### {alert}\n")[2].partition("\n##")[0]
    assert len(section.strip().splitlines()) >= 2, f"the runbook has nothing to say about {alert}"


def test_every_rule_names_a_metric_of_a_process_that_has_a_port() -> None:
    """`serve` has its own, `work` has its own: docs/metrics.md says which counts what."""
    metrics = all_metrics()
    families = {family.name: metrics.counted_by(family.name) for family in metrics.registry.collect()}
    for rule in RULES.values():
        named = [one for one in families if one in rule["expr"]]
        assert named, rule["expr"]
        assert all(families[one] for one in named)
