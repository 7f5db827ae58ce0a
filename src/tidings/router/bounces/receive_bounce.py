"""The use case "a mail has come back": is the address ours, what does the mail say, keep it as a callback."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Literal, Protocol, TypeAlias

from tidings.contracts.callback_forms import MOST_BYTES
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.logs import get_logger
from tidings.kernel.sql import Queries
from tidings.kernel.ttl_cache import TtlCache
from tidings.router.bounces.bounce_codes import event_of
from tidings.router.bounces.report import BounceReport, read_report
from tidings.router.bounces.tokens import ReturnToken, ReturnTokens
from tidings.router.callbacks.evidence import Evidence
from tidings.router.callbacks.intake import CallbackGroupCommit, IncomingCallback

QUERIES = Queries.beside(__file__)

_log = get_logger("bounces")
#: Bytes of a mail that are kept and read: a report stands before the message that it quotes.
MOST_KEPT: Final = MOST_BYTES
#: Mails to one return path that are kept in a minute; a server that sends more is asked to come again.
_MOST_A_MINUTE: Final = 10
#: Seconds for which an account is taken to be what it was; accounts are never deleted.
_LOOK_AGAIN: Final = 60.0

#: How a mail came.
Via: TypeAlias = Literal["smtp", "lmtp", "imap"]
#: What became of it. `kept`: a report, as a callback. `unreadable`: kept to be looked at. `not_a_bounce`: an automatic answer, or
#: feedback that is no complaint; counted, not kept. `not_ours`: no address in it is one of ours. `too_many`: come again.
Result: TypeAlias = Literal["kept", "unreadable", "not_a_bounce", "not_ours", "too_many"]


class BounceObserver(Protocol):
    """Hears how mails fare, for the metrics."""

    def mail(self, via: Via, result: Result | Literal["refused", "failed"]) -> None:
        """One has come."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Account:
    id: str
    vendor: str


class BounceReceiver:
    """Takes mails that have come back; what `take` has answered is durable."""

    def __init__(
        self,
        db: Database,
        tokens: ReturnTokens,
        intake: CallbackGroupCommit,
        *,
        clock: Clock,
        observer: BounceObserver,
        addresses: Collection[str] = (),
    ) -> None:
        """`addresses` are taken although no token is in them, such as that of a feedback loop: the report has to name one."""
        self._db = db
        self._tokens = tokens
        self._intake = intake
        self._clock = clock
        self.observer = observer
        self._addresses = frozenset(address.lower() for address in addresses)
        self._accounts: TtlCache[str, _Account | None] = TtlCache(
            clock=clock, ttl=timedelta(seconds=_LOOK_AGAIN)
        )
        self._pace = Evidence(clock=clock, most=_MOST_A_MINUTE)

    def knows(self, address: str) -> bool:
        """Whether mail to this address is taken; nothing is asked for it."""
        return self._tokens.read(address) is not None or address.lower() in self._addresses

    async def take(self, raw: bytes, *, via: Via, to: str | None = None) -> Result:
        """Keep what a mail says. `to`: the address that it was delivered to, where that is known."""
        raw = raw[:MOST_KEPT]
        report = read_report(raw)
        token = self._token(report, to)
        account = None if token is None else await self._accounts.get_or_fetch(token.account_mark, self._look)
        if token is None or account is None:
            return self._counted(via, "not_ours")
        event = event_of(report, token.attempt_id, received_at=self._clock.now())
        if event is None:
            return self._counted(via, "not_a_bounce")
        if not self._pace.may_keep(token.attempt_id):
            return self._counted(via, "too_many")
        unreadable = event.status == "unknown"
        await self._intake.take(
            account.vendor,
            IncomingCallback(
                account_id=account.id,
                signature_valid=True,
                status="dlq" if unreadable else "received",
                reason="unreadable" if unreadable else None,
                body=raw,
                events=[event],
            ),
        )
        if unreadable:
            _log.warning("bounce_unreadable", account_id=account.id, via=via)
        return self._counted(via, "unreadable" if unreadable else "kept")

    def _token(self, report: BounceReport, to: str | None) -> ReturnToken | None:
        told = (
            self._tokens.read(address) for address in ((to,) if to is not None else ()) + report.addresses
        )
        return next((token for token in told if token is not None), None)

    def _counted(self, via: Via, result: Result) -> Result:
        self.observer.mail(via, result)
        return result

    async def _look(self, mark: str) -> _Account | None:
        async with self._db.worker() as tx:
            rows = await tx.fetch(QUERIES.find_account, mark=mark)
        if len(rows) > 1:
            _log.error("accounts_end_alike", account_ids=[row["id"] for row in rows])
        return _Account(id=rows[0]["id"], vendor=rows[0]["provider"]) if len(rows) == 1 else None
