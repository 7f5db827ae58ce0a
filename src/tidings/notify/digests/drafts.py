"""What digests would say: windows with a line for each of their items, rendered with no transaction open."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from msgspec import Struct, structs

from tidings.contracts.enums import AUTO
from tidings.contracts.ids import NotificationId, RecipientId
from tidings.contracts.inbox import IN_APP
from tidings.contracts.tenants import Channel
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, TenantsTx
from tidings.kernel.durable.claims import Claim
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.ciphers import UnreadableError
from tidings.kernel.keys.data_key import DataKey, DestroyedKeyError
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.keys.pepper import Pepper
from tidings.notify.accept.row import VARIABLES_PURPOSE, NotificationRow
from tidings.notify.digests import flush_store as store
from tidings.notify.digests.flush_store import FlushedWindow
from tidings.notify.digests.lines import MOST_SHOWN, DigestLine, line_of
from tidings.notify.digests.unread import UnreadDigest, find_told, find_unread, may_merge
from tidings.notify.dispatch.compose import ComposeAsk, Composed, Composer, letterhead_of
from tidings.notify.dispatch.store import load_with_people
from tidings.notify.facts.load import FactsLoader
from tidings.notify.facts.model import Facts
from tidings.notify.ids import DigestWindowId
from tidings.notify.inbox_content.model import ContentFault
from tidings.notify.inbox_content.read import read_content
from tidings.notify.render.model import Rendered
from tidings.notify.templates.digest_template import TEMPLATE, Gathered, digest_templates
from tidings.notify.templates.resolve import TemplateResolver

#: After so many flushes that ended in an error, each item goes by itself.
_MOST_FAILURES: Final = 3


class DraftedWindow(Struct, frozen=True, kw_only=True):
    """A window with what its digest would say."""

    window: FlushedWindow
    #: The key of its template.
    template: str = TEMPLATE
    #: Those that it may go over.
    channels: frozenset[Channel] = frozenset()
    lines: Mapping[NotificationId, DigestLine] = {}
    #: No digest is tried any more.
    apart: bool = False
    #: The digest before, whose items are told once more; None where it was opened, or nothing is merged.
    repeats: NotificationId | None = None
    #: Those items.
    again: tuple[NotificationId, ...] = ()

    def __repr__(self) -> str:
        return f"DraftedWindow({self.window.id}, ***)"


class _Loaded(Struct, frozen=True, kw_only=True):
    """All that lines are made of."""

    #: The newest items of each window.
    items: Mapping[DigestWindowId, Sequence[NotificationId]]
    #: By window: the digest before that was not opened, and what it told.
    unread: Mapping[DigestWindowId, UnreadDigest]
    told: Mapping[DigestWindowId, Sequence[NotificationId]]
    rows: Mapping[NotificationId, NotificationRow]
    facts: Mapping[TenantId, Facts]
    peppers: Mapping[TenantId, Pepper]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DigestDrafter:
    """Loads and renders sets of windows, of whatever tenants."""

    db: Database
    loader: FactsLoader
    keyring: Keyring
    composer: Composer
    templates: TemplateResolver
    clock: Clock

    async def draft(self, worker: str, claims: Sequence[Claim[DigestWindowId]]) -> list[DraftedWindow]:
        """Those of the windows that this worker still has."""
        shared = await self.loader.shared()
        named = {claim.tenant_id for claim in claims}
        async with self.db.tenants(named, by_index=True) as tx:
            windows = await store.load_windows(tx, claims, worker=worker)
            tried = [window for window in windows if window.attempts < _MOST_FAILURES]
            drafts = [DraftedWindow(window=window, apart=True) for window in windows if window not in tried]
            if not tried:
                return drafts
            items = await store.find_items(tx, tried, most=MOST_SHOWN)
            loaded = await load_with_people(
                tx, [(window.tenant_id, id_) for window in tried for id_ in items[window.id]]
            )
            tenant_ids = {window.tenant_id for window in tried}
            peppers = await self.keyring.peppers(tx, tenant_ids)
            facts = await self.loader.load_set(
                tx,
                shared,
                tenant_ids,
                loaded.people,
                # No addresses are needed; one channel is named so that the keys come along.
                channels=["inapp"],
                others=[(window.tenant_id, window.recipient_id) for window in tried],
            )
            merging = [window for window in tried if may_merge(window, facts[window.tenant_id])]
            unread, told, before = await self._unread(tx, merging)
        rows = {id_: row for (_, id_), row in loaded.notifications.items()}
        found = _Loaded(
            items=items, unread=unread, told=told, rows=rows | before, facts=facts, peppers=peppers
        )
        return drafts + await self._drafted(tried, found)

    async def _unread(
        self, tx: TenantsTx, merging: Sequence[FlushedWindow]
    ) -> tuple[
        Mapping[DigestWindowId, UnreadDigest],
        Mapping[DigestWindowId, Sequence[NotificationId]],
        dict[NotificationId, NotificationRow],
    ]:
        """The unread digests before these windows, with what they told; nothing is asked where no schedule merges."""
        unread = await find_unread(tx, merging) if merging else {}
        if not unread:
            return {}, {}, {}
        by_last = await find_told(tx, list(unread.values()), now=self.clock.now())
        wanted = [(digest.tenant_id, id_) for digest in unread.values() for id_ in by_last[digest.window_id]]
        # They are the reader's own, whose key has come along.
        rows = {id_: row for (_, id_), row in (await load_with_people(tx, wanted)).notifications.items()}
        return unread, {id_: by_last[digest.window_id] for id_, digest in unread.items()}, rows

    async def _drafted(self, windows: Sequence[FlushedWindow], loaded: _Loaded) -> list[DraftedWindow]:
        lines = await self._lines(windows, loaded)
        templates = await digest_templates(self.templates, {_gathered(window) for window in windows})
        drafts: list[DraftedWindow] = []
        for window in windows:
            template, mine = templates[_gathered(window)], lines[window.id]
            there = loaded.facts[window.tenant_id].tenant.channels
            again = tuple(id_ for id_ in loaded.told.get(window.id, ()) if id_ in mine)
            drafts.append(
                DraftedWindow(
                    window=window,
                    template=template.key,
                    channels=frozenset(there) & template.channels
                    if window.channel == AUTO
                    else frozenset({window.channel}),
                    lines=mine | {id_: structs.replace(mine[id_], again=True) for id_ in again},
                    repeats=loaded.unread[window.id].id if again else None,
                    again=again,
                )
            )
        return drafts

    async def _lines(
        self, windows: Sequence[FlushedWindow], loaded: _Loaded
    ) -> dict[DigestWindowId, dict[NotificationId, DigestLine]]:
        facts = loaded.facts
        asks: list[tuple[DigestWindowId, ComposeAsk]] = []
        for window in windows:
            told = loaded.told.get(window.id, ())
            shown = [*loaded.items[window.id], *told]
            # One that is alone goes by itself, and needs no line.
            for id_ in shown if len(shown) > 1 else ():
                row = loaded.rows.get(id_)
                ask = _ask(row, facts[window.tenant_id], window.recipient_id) if row is not None else None
                if ask is not None:
                    asks.append((window.id, ask))
        channels: dict[TenantId, set[Channel]] = {window.tenant_id: set() for window in windows}
        for _, ask in asks:
            channels[ask.pending.tenant_id].add(ask.channel)
        composed = await self.composer.compose(
            [ask for _, ask in asks],
            {
                tenant_id: letterhead_of(facts[tenant_id], loaded.peppers[tenant_id], theirs)
                for tenant_id, theirs in channels.items()
            },
            headlines=True,
        )
        lines: dict[DigestWindowId, dict[NotificationId, DigestLine]] = {window.id: {} for window in windows}
        for (window_id, ask), words in zip(asks, composed, strict=True):
            row = ask.pending
            lines[window_id][row.id] = line_of(
                _told_in(words, ask.channel) if isinstance(words, Composed) else None,
                _opened(row, ask.owner),
                template_key=row.template_key,
                at=row.created_at,
                allowed_link_domains=facts[row.tenant_id].tenant.policy.allowed_link_domains,
            )
        return lines


def _gathered(window: FlushedWindow) -> Gathered:
    return window.tenant_id, window.category, window.channel


def _told_in(words: Composed, channel: Channel) -> Rendered:
    """The words of an item; of a document for the in-app inbox its title and its text."""
    rendered = words.rendered
    if channel != IN_APP or not words.is_json:
        return rendered
    content = read_content(None, rendered.text, json=True, allowed=())
    if isinstance(content, ContentFault):
        return structs.replace(rendered, text=None)
    return structs.replace(rendered, subject=content.title, text=content.body)


def _ask(row: NotificationRow, facts: Facts, reader_id: RecipientId) -> ComposeAsk | None:
    """How an item is rendered: by the first of its channels, in its language or the reader's."""
    owner, reader = facts.people.get(row.recipient_id), facts.people.get(reader_id)
    if owner is None or reader is None or owner.erased:
        return None
    channel = row.channel if row.channel != AUTO else next(iter(row.template_versions or ()), None)
    if channel is None:
        return None
    return ComposeAsk(pending=row, channel=channel, owner=owner.key, reader=reader)


def _opened(row: NotificationRow, key: DataKey | None) -> Mapping[str, Any]:
    if key is None:
        return {}
    try:
        read: Any = msgspec.json.decode(key.unseal(row.variables, VARIABLES_PURPOSE))
    except (DestroyedKeyError, UnreadableError):
        return {}
    return read if isinstance(read, dict) else {}
