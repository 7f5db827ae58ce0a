"""What a message says: facts about the person, the text, a step made ready."""

from typing import TYPE_CHECKING

from tidings.notify.dispatch.compose import Composer
from tidings.notify.dispatch.prepare import StepGate
from tidings.notify.dispatch.steps import StepMaker
from tidings.notify.facts.load import FactsLoader
from tidings.notify.tracking.watch import Tracker

if TYPE_CHECKING:
    from tidings.bootstrap.system import System


class Composing:
    """From a person and a template to what a vendor is given."""

    def __init__(self, system: "System") -> None:
        db, clock, keyring = system.db, system.clock, system.keyring
        self.facts = FactsLoader(
            db,
            keyring=keyring,
            categories=system.categories,
            accounts=system.outbound.accounts,
            clock=clock,
        )
        self.composer = Composer(templates=system.templates, renderer=system.renderer)
        self.tracker = Tracker(self.facts, system.base_url)
        self.steps = StepMaker(
            tracker=self.tracker,
            composer=self.composer,
            limits=system.hot_state.limits,
            attachments=system.attachments,
            links=system.links,
            clock=clock,
            blobs=lambda: system.blobs,
            missed=lambda: system.metrics.job_failures.labels("exact_bodies").inc(),
        )
        self.gate = StepGate(db=db, loader=self.facts, keyring=keyring, steps=self.steps, clock=clock)
