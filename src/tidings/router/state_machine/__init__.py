"""The execution state machine: which step of the ladder is next, and when. State and events in, transition out, no I/O."""
