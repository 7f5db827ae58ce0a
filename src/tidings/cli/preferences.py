"""`tidings preferences`: what recipients chose, many at a time."""

from tidings.cli.import_file import IMPORT
from tidings.cli.resource import ResourceCommands

app = ResourceCommands(
    "preferences", options={"emit_events": "--events/--no-events"}, rows={"import": IMPORT}
).app()
