"""The migration runner: plain SQL files, one ledger, one lock."""
