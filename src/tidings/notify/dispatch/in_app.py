"""The words of a step to the in-app inbox: what was rendered, read and checked as an item."""

from tidings.notify.dispatch.compose import Composed, NotComposed
from tidings.notify.facts.model import TenantFacts
from tidings.notify.inbox_content.model import ContentFault
from tidings.notify.inbox_content.read import encode_content, read_content

#: What was rendered is no item.
NOT_AN_ITEM = "render_bad_inbox_item"


def item_text(composed: Composed, tenant: TenantFacts) -> str | NotComposed:
    """The item as the router hands it on; it names the field that is wrong, and never its value."""
    rendered = composed.rendered
    content = read_content(
        rendered.subject,
        rendered.text,
        json=composed.is_json,
        allowed=tenant.policy.allowed_link_domains,
        locale=rendered.locale,
        direction=rendered.direction,
    )
    if isinstance(content, ContentFault):
        return NotComposed(reason=NOT_AN_ITEM, where=f"{rendered.locale}: {content.field} {content.remedy}")
    return encode_content(content)
