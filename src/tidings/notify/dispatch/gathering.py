"""What is about to join a digest that could not carry it: there is no template of digests for a channel that it may go over."""

from collections.abc import Sequence

from tidings.contracts.enums import AUTO
from tidings.contracts.tenants import Channel
from tidings.notify.accept.row import NotificationRow
from tidings.notify.facts.model import Facts
from tidings.notify.templates.digest_template import digest_templates
from tidings.notify.templates.resolve import TemplateResolver


async def without_digest(
    templates: TemplateResolver, joining: Sequence[tuple[NotificationRow, Facts]]
) -> list[bool]:
    """Of each, whether a digest would leave out a channel that it may go over by itself.

    With `auto` that is every channel that it has words for and the tenant has set up: the person may be reached by one of
    them alone. Templates are remembered; ask with no transaction open.
    """
    found = await digest_templates(
        templates, {(row.tenant_id, row.category, row.channel) for row, _ in joining}
    )
    return [
        not template.channels or not _ways(row, facts) <= template.channels
        for row, facts in joining
        for template in (found[row.tenant_id, row.category, row.channel],)
    ]


def _ways(row: NotificationRow, facts: Facts) -> frozenset[Channel]:
    if row.channel != AUTO:
        return frozenset({row.channel})
    return frozenset(row.template_versions or ()) & facts.tenant.channels.keys()
