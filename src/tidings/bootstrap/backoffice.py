"""The back office: operators who sign in, their sessions, and the web console."""

from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidings.backoffice.activity.record import ActivityRecorder
    from tidings.backoffice.attestations.attest import Attestor
    from tidings.backoffice.metrics import BackofficeMetrics
    from tidings.backoffice.oidc.provider import OidcClient
    from tidings.backoffice.operators.change import OperatorChanger
    from tidings.backoffice.own_url import ConsoleUrl
    from tidings.backoffice.sessions.authenticate import SessionAuthenticator
    from tidings.backoffice.sessions.end import SessionEnder
    from tidings.backoffice.upstreams.places import UpstreamPlaces
    from tidings.bootstrap.access import AccessStage
    from tidings.bootstrap.kernel import KernelStage
    from tidings.bootstrap.operator_devices import OperatorDevicesStage
    from tidings.bootstrap.operator_ledgers import OperatorLedgersStage
    from tidings.bootstrap.property_views import PropertyViewsStage
    from tidings.bootstrap.suggestions import SuggestionsStage
    from tidings.contracts.conditions import SystemHealth
    from tidings.contracts.operator_notices import InvitationMail, InvitationMailer
    from tidings.kernel.bus import Subscription
    from tidings.kernel.db import TenantTx
    from tidings.kernel.durable.jobs import Job
    from tidings.kernel.durable.sweepers import Sweep
    from tidings.kernel.http.asgi import App
    from tidings.kernel.parts import Parts

#: How long what is over is kept: sessions for questions, devices as long as browsers keep their cookie.
_SESSIONS_KEPT: Final = timedelta(days=30)
_ATTESTATIONS_KEPT: Final = timedelta(days=1)
_LINKS_KEPT: Final = timedelta(days=30)
_DEVICES_KEPT: Final = timedelta(days=400)
_ALERTS_KEPT: Final = timedelta(days=365)


class _LateMailer:
    """Sends invitations by what is made with the first of them: commands that invite nobody load no way in for messages."""

    def __init__(self, get: "Callable[[], InvitationMailer]") -> None:
        self._get = get

    async def send(self, tx: "TenantTx", mail: "InvitationMail") -> bool:
        """By the real one."""
        return await self._get().send(tx, mail)


class BackofficeStage:
    """Served beside the API; commands use it too. A worker sweeps, and imports no more than that takes."""

    def __init__(
        self,
        kernel: "KernelStage",
        access: "AccessStage",
        *,
        most_upload_bytes: int,
        health: "Callable[[], SystemHealth]",
        mailer: "Callable[[], InvitationMailer]",
    ) -> None:
        self._kernel = kernel
        self._health = health
        self._mailer = mailer
        self._most_upload_bytes = most_upload_bytes
        self._access = access
        #: The application that serves the API, once there is one: the console's pages call it.
        self.app: App | None = None

    @cached_property
    def parts(self) -> "Parts":
        """What handlers name."""
        from tidings.backoffice.alerts.count import AlertCounter
        from tidings.backoffice.console.own_api import OwnApp
        from tidings.backoffice.console.streamed_form import FormUploadLimit
        from tidings.backoffice.console.uploads import ROOM
        from tidings.backoffice.credentials.passwords import Passwords
        from tidings.backoffice.desk import OperatorDesk
        from tidings.backoffice.metrics import BackofficeMetrics
        from tidings.backoffice.oidc.provider import IdentityProvider
        from tidings.backoffice.own_url import ConsoleUrl
        from tidings.backoffice.passkeys.options import RelyingParty
        from tidings.backoffice.sessions.authenticate import SessionAuthenticator
        from tidings.backoffice.sign_in.account import OwnSignInChanger
        from tidings.backoffice.sign_in.join import Joiner
        from tidings.backoffice.sign_in.sign_in import SignIn
        from tidings.backoffice.stream.hub import DeviceStreams
        from tidings.backoffice.upstreams.client import Upstreams
        from tidings.bootstrap.operator_ledgers import OperatorLedgersStage
        from tidings.bootstrap.suggestions import SuggestionsStage
        from tidings.contracts.conditions import SystemHealth
        from tidings.contracts.conversations import TenantNames
        from tidings.contracts.operator_notices import InvitationMailer
        from tidings.kernel.http.tenant_gate import TenantGate
        from tidings.kernel.idempotency import Idempotency
        from tidings.notify.tenants.store import StoredTenantNames

        kernel = self._kernel
        parts = kernel.service_parts(kernel.backoffice_audit, kernel.backoffice_outbox)
        parts.add_late(Idempotency, lambda: kernel.backoffice_idempotency)
        parts.add(TenantGate, self._access.gate).add(TenantNames, StoredTenantNames())
        parts.add(Passwords, Passwords()).add(ConsoleUrl, ConsoleUrl(kernel.base_url))
        parts.add(RelyingParty, RelyingParty(kernel.base_url))
        parts.add(OwnApp, OwnApp(get=self._own_app))
        parts.add(InvitationMailer, _LateMailer(self._mailer))
        parts.add(FormUploadLimit, FormUploadLimit(self._most_upload_bytes + ROOM))
        parts.get(SessionAuthenticator, changes=kernel.changes)
        parts.add(BackofficeMetrics, self.metrics)
        provider = parts.get(IdentityProvider, client=self.oidc_client)
        kernel.closing.push_async_callback(provider.close)
        upstreams = parts.get(Upstreams, places=self.places)
        kernel.closing.push_async_callback(upstreams.close)
        parts.get(AlertCounter, changes=kernel.changes)
        parts.add_late(SystemHealth, self._health)
        for kind in (OperatorDesk, SignIn, Joiner, OwnSignInChanger):
            parts.get(kind)
        self.views.register(parts)
        parts.add_late(DeviceStreams, lambda: self.devices.streams)
        SuggestionsStage.register(kernel, parts)
        OperatorLedgersStage.register(kernel, parts)
        return parts

    @property
    def oidc_client(self) -> "OidcClient | None":
        """What the house's identity provider knows us by, where there is one."""
        from tidings.backoffice.oidc.provider import OidcClient

        chosen, kernel = self._kernel.settings.oidc, self._kernel
        if chosen.issuer is None or chosen.client_id is None:
            return None
        return OidcClient(
            issuer=chosen.issuer,
            client_id=chosen.client_id,
            client_secret=chosen.client_secret.reveal() if chosen.client_secret else None,
            name=chosen.name,
            redirect_uri=f"{kernel.base_url}/console/oidc/callback",
        )

    @cached_property
    def metrics(self) -> "BackofficeMetrics":
        """What the back office counts."""
        from tidings.backoffice.metrics import BackofficeMetrics

        return BackofficeMetrics(self._kernel.metrics)

    @cached_property
    def views(self) -> "PropertyViewsStage":
        """Dashboards and boards."""
        from tidings.bootstrap.property_views import PropertyViewsStage

        return PropertyViewsStage(self._kernel, self.metrics)

    @cached_property
    def places(self) -> "UpstreamPlaces":
        """Where the upstream services are."""
        from tidings.backoffice.upstreams.names import UPSTREAMS
        from tidings.backoffice.upstreams.places import UpstreamPlaces

        chosen = self._kernel.settings.upstreams
        return UpstreamPlaces.of(
            chosen.url,
            {name: getattr(chosen, name) for name in UPSTREAMS},
            token_ref=chosen.token_ref,
            timeout=chosen.timeout,
        )

    def _own_app(self) -> "App":
        if self.app is None:
            raise RuntimeError("pages are shown by an application, and this process has none")
        return self.app

    @property
    def url(self) -> "ConsoleUrl":
        """Where the console is found."""
        from tidings.backoffice.own_url import ConsoleUrl

        return self.parts.get(ConsoleUrl)

    @property
    def ender(self) -> "SessionEnder":
        """Ends sessions."""
        from tidings.backoffice.sessions.end import SessionEnder

        return self.parts.get(SessionEnder)

    @property
    def changer(self) -> "OperatorChanger":
        """Changes operators."""
        from tidings.backoffice.operators.change import OperatorChanger

        return self.parts.get(OperatorChanger)

    @property
    def authenticator(self) -> "SessionAuthenticator":
        """Who is signed in."""
        from tidings.backoffice.sessions.authenticate import SessionAuthenticator

        return self.parts.get(SessionAuthenticator)

    @property
    def attestor(self) -> "Attestor":
        """Their second factors."""
        from tidings.backoffice.attestations.attest import Attestor

        return self.parts.get(Attestor)

    @cached_property
    def devices(self) -> "OperatorDevicesStage":
        """What operators' devices hear and say."""
        from tidings.bootstrap.operator_devices import OperatorDevicesStage

        return OperatorDevicesStage(self._kernel, self.parts)

    @cached_property
    def ledgers(self) -> "OperatorLedgersStage":
        """What operators leave behind."""
        from tidings.bootstrap.operator_ledgers import OperatorLedgersStage

        return OperatorLedgersStage(self._kernel, self.parts)

    @cached_property
    def suggestions(self) -> "SuggestionsStage":
        """What an AI suggests."""
        from tidings.bootstrap.suggestions import SuggestionsStage

        return SuggestionsStage(self._kernel, lambda: self.parts)

    def jobs(self) -> "dict[str, Job]":
        """What a worker runs; sessions end by their time, and are looked at when they are used."""
        return {
            **self.views.jobs(),
            **self.devices.jobs(),
            **self.suggestions.jobs(),
            **self.ledgers.jobs(),
            "operator_approvals": self._kernel.bus.consumer(self._approvals()),
        }

    def _approvals(self) -> "Subscription":
        """What ends alerts of what waits for an approval."""
        from tidings.backoffice.approvals import hear
        from tidings.kernel.bus import Subscription

        hearer = self.parts.get(hear.ApprovalHearer)
        return Subscription(
            hear.GROUP,
            hear.SUBJECTS,
            ledger="bff_backoffice",
            on_tenant_events=hearer.handle,
            on_platform_events=hearer.handle,
            start="now",
        )

    def api_jobs(self) -> "dict[str, Job]":
        """What a process needs that only serves the API."""
        return {**self.devices.api_jobs(), "operator_activity": self.activity}

    @cached_property
    def activity(self) -> "ActivityRecorder":
        """Writes down what operators do."""
        from tidings.backoffice.activity.record import ActivityRecorder
        from tidings.backoffice.credentials.pepper import OperatorPepper
        from tidings.kernel.journal.journal import Journal

        kernel = self._kernel
        journal = Journal(
            kernel.settings.journal_dir() / "activity",
            kernel.kms,
            name=kernel.worker_id,
            monotonic=kernel.clock.monotonic,
            on_missed=kernel.metrics.journal_missed.inc,
        )
        kernel.closing.push_async_callback(journal.close)
        recorder = ActivityRecorder(
            kernel.db,
            self.parts.get(OperatorPepper),
            journal,
            clock=kernel.clock,
            metrics=kernel.metrics,
        )
        kernel.closing.push_async_callback(recorder.close)
        return recorder

    def sweeps(self) -> "dict[str, Sweep]":
        """Sessions, attestations, devices, links and alerts that are long over, notes whose ledger is, and what its parts have."""
        from tidings.backoffice.alerts.store import sweep_alerts, sweep_mutes
        from tidings.backoffice.attestations.store import sweep_attestations
        from tidings.backoffice.notes.store import sweep_notes
        from tidings.backoffice.operators.store import sweep_links
        from tidings.backoffice.passkeys.store import sweep_challenges
        from tidings.backoffice.sessions.store import sweep_devices, sweep_sessions

        db, clock = self._kernel.db, self._kernel.clock

        async def attestations(most: int) -> int:
            async with db.worker() as tx:
                return await sweep_attestations(tx, before=clock.now() - _ATTESTATIONS_KEPT, limit=most)

        async def sessions(most: int) -> int:
            async with db.worker() as tx:
                return await sweep_sessions(tx, before=clock.now() - _SESSIONS_KEPT, limit=most)

        async def devices(most: int) -> int:
            async with db.worker() as tx:
                return await sweep_devices(tx, before=clock.now() - _DEVICES_KEPT, limit=most)

        async def links(most: int) -> int:
            async with db.worker() as tx:
                return await sweep_links(tx, before=clock.now() - _LINKS_KEPT, limit=most)

        async def notes(most: int) -> int:
            async with db.worker() as tx:
                return await sweep_notes(tx, now=clock.now(), limit=most)

        async def alerts(most: int) -> int:
            async with db.worker() as tx:
                await sweep_mutes(tx, before=clock.now())
                return await sweep_alerts(tx, before=clock.now() - _ALERTS_KEPT, limit=most)

        async def challenges(most: int) -> int:
            async with db.worker() as tx:
                return await sweep_challenges(tx, before=clock.now(), limit=most)

        return {
            "alerts": alerts,
            "passkey_challenges": challenges,
            "operator_attestations": attestations,
            "operator_sessions": sessions,
            "operator_devices": devices,
            "operator_notes": notes,
            "operator_links": links,
            **self.devices.sweeps(),
            **self.suggestions.sweeps(),
        }
