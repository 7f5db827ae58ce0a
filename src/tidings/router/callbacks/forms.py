"""The form of callbacks by kind of adapter; a vendor's own form is one file and one line here."""

from collections.abc import Mapping
from typing import Final

from tidings.router.callbacks.generic import GenericForm
from tidings.router.callbacks.model import CallbackForm

FORMS: Final[Mapping[str, CallbackForm]] = {"http": GenericForm()}
