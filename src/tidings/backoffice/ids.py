"""Ids of the back office's own rows."""

from typing import NewType

from tidings.kernel.ids import IdKind

OperatorId = NewType("OperatorId", str)
SessionId = NewType("SessionId", str)
DeviceId = NewType("DeviceId", str)
AttestationId = NewType("AttestationId", str)
NoteId = NewType("NoteId", str)
ActivityId = NewType("ActivityId", str)
LockAuditId = NewType("LockAuditId", str)
ExportId = NewType("ExportId", str)
AlertId = NewType("AlertId", str)
PasskeyId = NewType("PasskeyId", str)
DeviceSyncId = NewType("DeviceSyncId", str)
OfflineHintId = NewType("OfflineHintId", str)
PreferencesId = NewType("PreferencesId", str)
AiEntryId = NewType("AiEntryId", str)
DecisionId = NewType("DecisionId", str)

OPERATOR = IdKind("oper", OperatorId)
SESSION = IdKind("bos", SessionId)
DEVICE = IdKind("dvc", DeviceId)
ATTESTATION = IdKind("mfa", AttestationId)
NOTE = IdKind("note", NoteId)
ACTIVITY = IdKind("act", ActivityId)
LOCK_AUDIT = IdKind("lap", LockAuditId)
EXPORT = IdKind("exp", ExportId)
ALERT = IdKind("ali", AlertId)
PASSKEY = IdKind("psk", PasskeyId)
DEVICE_SYNC = IdKind("dsy", DeviceSyncId)
OFFLINE_HINT = IdKind("oaq", OfflineHintId)
PREFERENCES = IdKind("opr", PreferencesId)
AI_ENTRY = IdKind("aim", AiEntryId)
DECISION = IdKind("sdl", DecisionId)
