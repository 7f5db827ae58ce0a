"""What a message says: facts about the person, the text, a step made ready."""

from typing import TYPE_CHECKING

from tidings.contracts.channel_configs import SharedAccounts
from tidings.notify.batches.paces import StoredBatchPaces
from tidings.notify.dispatch.batch_paces import BatchPaces
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
        parts = notify.parts.add(SharedAccounts, vendors.accounts)
        parts.add(BatchPaces, parts.get(StoredBatchPaces))
        self.facts = parts.get(FactsLoader)
        self.composer = parts.get(Composer)
        parts.get(Tracker, base_url=kernel.base_url)
        parts.get(StepMaker, missed=lambda: kernel.metrics.job_failures.labels("exact_bodies").inc())
        self.gate = parts.get(StepGate)
