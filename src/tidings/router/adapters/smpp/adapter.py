"""SMPP 3.4: any SMSC, over binds that stay open.

Receipts and what people write come over the same binds. The outcomes are those of `smpp_statuses`; a message is unlearned where its
submit_sm went out and no answer came.
"""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from tidings.contracts.adapters import Capabilities
from tidings.contracts.messages import Accepted, OutboundMessage, Outcome, TryLater
from tidings.kernel.ca_bundle import CaPem, trusting
from tidings.kernel.egress import Guard
from tidings.kernel.errors import BadValueError
from tidings.kernel.mapping import by_name
from tidings.kernel.secrets import Secret
from tidings.router.adapters.connect import ConnectError
from tidings.router.adapters.kind import AdapterContext, AdapterKind, discard_inbound
from tidings.router.adapters.setting_types import HostName, ShortLine
from tidings.router.adapters.smpp.addresses import destination_of, source_of
from tidings.router.adapters.smpp.bind import Role, Smsc, open_session
from tidings.router.adapters.smpp.command_status import SEEDS, Verdict
from tidings.router.adapters.smpp.delivery_receipts import IdForm, ReceiptForm
from tidings.router.adapters.smpp.inbound import SmppInbound
from tidings.router.adapters.smpp.pdu import ENQUIRE_LINK, SmppAddress, submit_body
from tidings.router.adapters.smpp.reconnect import SmppLink
from tidings.router.adapters.smpp.sender import SmppSender, SubmitBodies
from tidings.router.adapters.smpp.session import LinkGoneError, NoAnswerError, NotWrittenError, SmppSession
from tidings.router.adapters.smpp.text_encoding import Alphabet, LongBy, parts_of
from tidings.router.adapters.smpp.window import Pace, SendWindow

#: The usual port of each kind of security.
_PORTS: Final = {"tls": 3550, "none": 2775}
#: Seconds for an unbind.
_GOODBYE: Final = 0.5

_Word = Annotated[
    str, Meta(max_length=63, pattern=r"^[\x20-\x7e]*\Z", description="must be up to 63 characters of ASCII")
]
_Status = Annotated[
    str,
    Meta(
        pattern=r"^(ESME_[A-Z_]+|0x[0-9A-F]{8})\Z",
        description="must be a status such as ESME_RSUBMITFAIL or 0x00000401",
    ),
]


class SmppSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One account at an SMSC."""

    host: HostName
    #: 3550 for tls, 2775 for none, unless it is given.
    port: Annotated[int, Meta(ge=1, le=65535)] | None = None
    #: `none` sends the password and every text in the clear: only within a VPN.
    security: Literal["tls", "none"] = "tls"
    #: Trust the certificates of this file, on the disk of every process that sends, and no others.
    ca_file: ShortLine | None = None
    #: The same as text; by reference as `ca_pem_ref`, so that it lies with the account's other secrets.
    ca_pem: CaPem | None = None
    system_id: Annotated[_Word, Meta(min_length=1)]
    #: By reference as `password_ref`, or as the account's `secret_ref`.
    password: _Word
    system_type: _Word = ""
    service_type: Annotated[
        str, Meta(max_length=5, pattern=r"^[\x20-\x7e]*\Z", description="must be up to 5 characters of ASCII")
    ] = ""
    #: Which numbers' messages a bind is to get, in the SMSC's own notation; it mostly knows by itself.
    address_range: Annotated[
        str,
        Meta(max_length=40, pattern=r"^[\x20-\x7e]*\Z", description="must be up to 40 characters of ASCII"),
    ] = ""
    #: One bind for both ways, or two: a transmitter and a receiver.
    bind: Literal["transceiver", "pair"] = "transceiver"
    #: Binds to send over, in each process.
    binds: Annotated[int, Meta(ge=1, le=20)] = 1
    #: Messages that wait for an answer on one bind.
    window: Annotated[int, Meta(ge=1, le=1000)] = 10
    #: Most submit_sm a second, of each process; as many as the SMSC takes where this is left out.
    per_second: Annotated[float, Meta(gt=0, le=100_000)] | None = None
    #: Who every message comes from: a number, a short code or a name; the tenant's own sender where this is left out.
    source: Annotated[str, Meta(min_length=1, max_length=16)] | None = None
    #: How short codes are typed.
    short_code_ton: Annotated[int, Meta(ge=0, le=6)] = 3
    short_code_npi: Annotated[int, Meta(ge=0, le=18)] = 0
    #: What the SMSC takes data_coding 0 for.
    default_alphabet: Alphabet = "gsm7"
    #: How a text that is too long for one message travels.
    long_messages: LongBy = "udh"
    #: Ask for receipts.
    receipts: bool = True
    #: How the SMSC writes its ids when it takes a message, and when it tells what became of it.
    response_ids: IdForm = "text"
    receipt_ids: IdForm = "text"
    #: Minutes by which the times in receipts are ahead of UTC.
    receipt_offset_minutes: Annotated[int, Meta(ge=-840, le=840)] = 0
    #: Seconds for which the SMSC keeps trying; its own limit where this is left out.
    validity_seconds: Annotated[int, Meta(ge=60, le=5_184_000)] | None = None
    #: command_status → what it means, over the usual meanings.
    statuses: Annotated[dict[_Status, Verdict], Meta(max_length=200)] = {}
    #: For connecting, TLS and the bind together.
    connect_seconds: Annotated[float, Meta(gt=0, le=300)] = 15.0
    #: For the answers to one message.
    timeout_seconds: Annotated[float, Meta(gt=0, le=600)] = 30.0
    #: What has not begun after this is given back.
    batch_seconds: Annotated[float, Meta(gt=0, le=3600)] = 60.0
    #: Silence after which the SMSC is asked whether it is there.
    enquire_seconds: Annotated[float, Meta(gt=0, le=3600)] = 30.0
    #: Longest wait between two tries to bind.
    reconnect_seconds: Annotated[float, Meta(gt=0, le=600)] = 30.0
    #: How long a part of a long message that somebody wrote waits unanswered for the others.
    part_seconds: Annotated[float, Meta(gt=0, le=60)] = 1.0
    #: How long the other parts are waited for at all; then what is there is passed on.
    assembly_seconds: Annotated[float, Meta(gt=0, le=86_400)] = 300.0

    def __repr__(self) -> str:
        return f"SmppSettings(host={self.host!r}, port={self.port!r})"


class SmppAdapter:
    """Hands texts to one account at one SMSC, and hears what it says."""

    name = "smpp"
    channels = frozenset({"sms"})
    capabilities = Capabilities(receipts=True, inbound=True)

    def __init__(self, settings: SmppSettings, around: AdapterContext) -> None:
        self._settings = settings
        self.capabilities = Capabilities(receipts=settings.receipts, inbound=True)
        self._smsc = _smsc(settings, around.guard)
        self._fixed_source = self._source(settings.source, "source") if settings.source is not None else None
        form = ReceiptForm(
            response_ids=settings.response_ids,
            receipt_ids=settings.receipt_ids,
            offset_minutes=settings.receipt_offset_minutes,
        )
        self._inbound = SmppInbound(
            None if around.on_inbound is discard_inbound else around.on_inbound,
            clock=around.clock,
            form=form,
            alphabet=settings.default_alphabet,
            timeout_seconds=settings.timeout_seconds,
            part_seconds=settings.part_seconds,
            assembly_seconds=settings.assembly_seconds,
        )
        pace = Pace(settings.per_second)
        self._turns = SendWindow(pace)
        role: Role = "transceiver" if settings.bind == "transceiver" else "transmitter"
        self._senders = [self._link(role) for _ in range(settings.binds)]
        self._receivers = [] if role == "transceiver" else [self._link("receiver")]
        self._turns.over(self._senders)
        self._sender = SmppSender(
            self._turns,
            pace,
            build=self._ready,
            at_once=settings.window * settings.binds,
            batch_seconds=settings.batch_seconds,
            timeout_seconds=settings.timeout_seconds,
            statuses=settings.statuses,
            id_of=form.response_id,
        )
        # A message may wait for its turn, and then has so long for all its answers.
        self._longest = timedelta(seconds=settings.batch_seconds + settings.timeout_seconds + 1)
        if around.on_inbound is not discard_inbound:
            self.listen()

    @property
    def longest_send(self) -> timedelta:
        """A call of `send` has returned after this."""
        return self._longest

    def listen(self) -> None:
        """Bind now and stay bound, though nothing is sent."""
        for link in (*self._senders, *self._receivers):
            link.start()

    async def send(
        self,
        messages: Sequence[OutboundMessage],
        *,
        within: float | None = None,
        learned: list[Outcome] | None = None,
    ) -> Sequence[Outcome]:
        """One outcome each, in the same order."""
        return await self._sender.send(messages, within=within, learned=learned)

    async def check(self) -> Outcome | None:
        """Ask over a bind that is open; else bind, and unbind again."""
        session = next((link.session for link in self._senders if link.session is not None), None)
        try:
            if session is not None:
                await session.ask(ENQUIRE_LINK, b"", seconds=self._settings.timeout_seconds)
                return Accepted()
            role: Role = "transceiver" if self._settings.bind == "transceiver" else "transmitter"
            session = await open_session(self._smsc, role, self._inbound.take)
        except ConnectError as error:
            return error.outcome()
        except (NotWrittenError, LinkGoneError, NoAnswerError) as error:
            return TryLater(reason=str(error), code="connection")
        await session.unbind(seconds=_GOODBYE)
        return Accepted()

    async def close(self) -> None:
        """Give back what waits, let what is under way end, unbind."""
        self._turns.close()
        await self._answered()
        await self._inbound.close()
        await asyncio.gather(*(link.stop() for link in (*self._senders, *self._receivers)))

    async def _answered(self) -> None:
        """Until nothing that has begun is without its outcome; each has its own end."""
        while self._sender.under_way:
            await asyncio.sleep(0.01)

    def _link(self, role: Role) -> SmppLink:
        async def open_one() -> SmppSession:
            return await open_session(self._smsc, role, self._inbound.take)

        return SmppLink(
            open_one,
            longest_wait=self._settings.reconnect_seconds,
            goodbye_seconds=_GOODBYE,
            changed=self._turns.serve,
        )

    def _source(self, sender: str, field: str = "sender") -> tuple[SmppAddress, str | None]:
        return source_of(
            sender,
            short_ton=self._settings.short_code_ton,
            short_npi=self._settings.short_code_npi,
            field=field,
        )

    def _ready(self, message: OutboundMessage) -> SubmitBodies:
        if message.channel != "sms":
            raise BadValueError("channel", "must be sms for this adapter")
        settings = self._settings
        source, answers_to = self._fixed_source or self._source(message.sender.value)
        destination = destination_of(message.to)
        parts = parts_of(
            message.text or "",
            message.message_id,
            alphabet=settings.default_alphabet,
            long_by=settings.long_messages,
        )
        last = len(parts) - 1
        return SubmitBodies(
            bodies=[
                submit_body(
                    service_type=settings.service_type,
                    source=source,
                    destination=destination,
                    esm_class=part.esm_class,
                    validity=_validity(settings.validity_seconds),
                    # One receipt for a message, and its id is the one that we keep.
                    receipt=settings.receipts and number == last,
                    data_coding=part.data_coding,
                    content=part.content,
                    tlvs=part.tlvs,
                )
                for number, part in enumerate(parts)
            ],
            sender=answers_to,
        )


def _validity(seconds: int | None) -> str:
    """As a relative time (SMPP 3.4, 7.1.1.2): YYMMDDhhmmss000R."""
    if seconds is None:
        return ""
    days, rest = divmod(seconds, 86_400)
    hours, rest = divmod(rest, 3600)
    minutes, rest = divmod(rest, 60)
    return f"00{days // 30:02d}{days % 30:02d}{hours:02d}{minutes:02d}{rest:02d}000R"


def _smsc(settings: SmppSettings, guard: Guard) -> Smsc:
    return by_name(
        Smsc,
        settings,
        port=settings.port or _PORTS[settings.security],
        context=None if settings.security == "none" else trusting(settings.ca_file, settings.ca_pem),
        password=Secret(settings.password),
        guard=guard,
    )


def _fixed_sender(settings: SmppSettings, _: str) -> str | None:
    return settings.source


KIND = AdapterKind(
    adapter=SmppAdapter,
    title="Any SMSC (SMPP 3.4)",
    settings=SmppSettings,
    credential_fields=("system_id", "password"),
    main_credential="password",
    fixed_sender=_fixed_sender,
    prices=("segment",),
    by_settings=frozenset({"receipts"}),
    proof="the bind's system_id and password",
    statuses=SEEDS,
    listens=True,
)
