"""What a worker runs: reads bounces from the mailboxes that accounts name, one worker at a time for each."""

import asyncio
from datetime import timedelta
from secrets import token_hex
from typing import Final

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.durable.jobs import wait_for_stop
from tidings.kernel.durable.retry_policy import Backoff
from tidings.kernel.egress import Guard, anywhere, public_only
from tidings.kernel.errors import TidingsError
from tidings.kernel.hot_state import Leases
from tidings.kernel.ids import TenantId
from tidings.kernel.logs import get_logger, why
from tidings.kernel.secrets import SecretResolver
from tidings.router.accounts.model import StoredAccount
from tidings.router.adapters.mail.imap_mailbox import MailboxAddress, open_mailbox
from tidings.router.adapters.registry import read_account
from tidings.router.adapters.smtp.adapter import SmtpSettings
from tidings.router.adapters.smtp.bounce_mailbox import mailbox_of
from tidings.router.bounces.receive_bounce import BounceReceiver
from tidings.router.vendors.listening import accounts_across

_log = get_logger("bounces")
#: Mails of one mailbox that are read in one turn.
_MOST: Final = 500
#: Seconds that one mailbox may take in a turn; the lease is longer.
_TURN: Final = 60.0
_LEASE: Final = timedelta(seconds=90)
_AT_ONCE: Final = 4


class BounceMailboxes:
    """Reads all mailboxes from time to time; any number of processes may run one.

    A mail is marked as seen after it is kept. One that is no bounce stays unseen, for other readers of the mailbox, and
    is not read again by this process.
    """

    def __init__(
        self,
        db: Database,
        desk: BounceReceiver,
        *,
        secrets: SecretResolver,
        leases: Leases,
        clock: Clock,
        tenant_guard: Guard = public_only,
        every: timedelta = timedelta(minutes=1),
    ) -> None:
        self._db = db
        self._desk = desk
        self._secrets = secrets
        self._leases = leases
        self._clock = clock
        self._tenant_guard = tenant_guard
        self._every = every.total_seconds()
        self._holder = token_hex(8)
        #: Account → how its mailbox numbers mails, and the last of them that was looked at.
        self._looked: dict[str, tuple[int, int]] = {}
        self._turns = asyncio.Semaphore(_AT_ONCE)

    async def run(self, stop: asyncio.Event) -> None:
        """Read until `stop`."""
        backoff = Backoff()
        while not stop.is_set():
            try:
                await self.turn()
                seconds = self._every
                backoff.after_success()
            except TidingsError as error:
                seconds = backoff.after_failure()
                _log.warning("mailboxes_not_looked_up", retry_seconds=seconds, **why(error))
            await wait_for_stop(stop, seconds)

    async def turn(self) -> int:
        """Every mailbox once; how many mails were dealt with."""
        found = await accounts_across(self._db, ["smtp"])
        read = await asyncio.gather(*(self.read(account, owner) for account, owner in found))
        return sum(read)

    async def read(self, account: StoredAccount, owner: TenantId) -> int:
        """One account's mailbox, if it has any; a failure with it does not touch the others."""
        async with self._turns:
            try:
                place = await self._place(account, owner)
                if place is None:
                    return 0
                lease = await self._leases.acquire(None, f"bounce_mailbox:{account.id}", self._holder, _LEASE)
                if lease is None:
                    return 0
                try:
                    async with asyncio.timeout(_TURN):
                        return await self._empty(account.id, place)
                finally:
                    await self._leases.release(lease)
            except (TidingsError, TimeoutError) as error:
                self._desk.observer.mail("imap", "failed")
                _log.warning("mailbox_not_read", account_id=account.id, **why(error))
                return 0
            except Exception as error:  # noqa: BLE001  # one account's odd settings must not stop the others
                self._desk.observer.mail("imap", "failed")
                _log.error("mailbox_not_read", account_id=account.id, error=type(error).__name__)
                return 0

    async def _place(self, account: StoredAccount, owner: TenantId) -> MailboxAddress | None:
        try:
            read = await read_account(
                account.vendor,
                {"secret_ref": account.secret_ref},
                self._secrets,
                tenant_id=None if account.platform else owner,
            )
        except TidingsError:
            # Whether it has a mailbox is not known; the sending task hears what is wrong with it.
            return None
        if not isinstance(read.settings, SmtpSettings):
            return None
        return mailbox_of(read.settings, anywhere if account.platform else self._tenant_guard)

    async def _empty(self, account_id: str, place: MailboxAddress) -> int:
        count = 0
        async with open_mailbox(place) as mailbox:
            validity, last = self._looked.get(account_id, (mailbox.validity, 0))
            if validity != mailbox.validity:
                last = 0
            for uid in await mailbox.unread(after=last, most=_MOST):
                raw = await mailbox.fetch(uid)
                result = "not_ours" if raw is None else await self._desk.take(raw, via="imap")
                if result == "too_many":
                    break
                if result != "not_ours":
                    await mailbox.mark_seen(uid)
                    count += 1
                self._looked[account_id] = (mailbox.validity, uid)
        return count
