"""The template that digests of a category are made with, and the channels that it has words for."""

from collections.abc import Collection, Mapping
from typing import Final, Literal, NamedTuple, TypeAlias

from tidings.contracts.enums import AUTO
from tidings.contracts.tenants import Channel
from tidings.kernel.ids import TenantId
from tidings.notify.templates.resolve import TemplateResolver

#: The template of digests; one named `digest.<category>` is preferred, where there is one.
TEMPLATE: Final = "digest"

#: What is gathered: the tenant, its category, and the channel of its window.
Gathered: TypeAlias = tuple[TenantId, str, Channel | Literal["auto"]]


class DigestTemplate(NamedTuple):
    """With which template a digest is made."""

    key: str
    #: That it has words for; none where there is no template.
    channels: frozenset[Channel]


async def digest_templates(
    templates: TemplateResolver, gathered: Collection[Gathered]
) -> Mapping[Gathered, DigestTemplate]:
    """The template of each; what is not remembered is looked up together."""
    keys = {(tenant_id, key) for tenant_id, category, _ in gathered for key in (_own_key(category), TEMPLATE)}
    there = await templates.channels_of_all(keys)
    return {one: _chosen(one, there) for one in gathered}


def _chosen(
    gathered: Gathered, there: Mapping[tuple[TenantId, str], Mapping[Channel, object]]
) -> DigestTemplate:
    """That of the category where it has the channel, else the usual one."""
    tenant_id, category, channel = gathered
    for key in (_own_key(category), TEMPLATE):
        channels = frozenset(there[tenant_id, key])
        if channels and (channel == AUTO or channel in channels):
            return DigestTemplate(key, channels)
    return DigestTemplate(TEMPLATE, frozenset())


def _own_key(category: str) -> str:
    return f"{TEMPLATE}.{category}"
