"""What a message says: facts about the person, the text, a step made ready."""

from typing import TYPE_CHECKING

from tidings.notify.dispatch.compose import Composer
from tidings.notify.dispatch.prepare import StepGate
from tidings.notify.dispatch.steps import StepMaker
from tidings.notify.facts.load import FactsLoader
from tidings.notify.tracking.tracker import Tracker

if TYPE_CHECKING:
    from tidings.bootstrap.kernel import KernelStage
    from tidings.bootstrap.notify import NotifyStage
    from tidings.bootstrap.vendors import VendorsStage


class CompositionStage:
    """From a person and a template to what a vendor is given."""

    def __init__(self, kernel: "KernelStage", notify: "NotifyStage", vendors: "VendorsStage") -> None:
        db, clock, keyring = kernel.db, kernel.clock, kernel.keyring
        self.facts = FactsLoader(
            platform_pepper=kernel.platform_pepper,
            keyring=keyring,
            categories=notify.categories,
            accounts=vendors.accounts,
            clock=clock,
        )
        self.composer = Composer(templates=notify.templates, renderer=notify.renderer)
        self.tracker = Tracker(self.facts, kernel.base_url)
        self.steps = StepMaker(
            tracker=self.tracker,
            composer=self.composer,
            limits=kernel.hot_state.limits,
            attachments=notify.attachments,
            links=notify.links,
            clock=clock,
            blobs=lambda: kernel.blobs,
            missed=lambda: kernel.metrics.job_failures.labels("exact_bodies").inc(),
        )
        self.gate = StepGate(db=db, loader=self.facts, keyring=keyring, steps=self.steps, clock=clock)
