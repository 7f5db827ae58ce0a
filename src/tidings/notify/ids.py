"""Ids of notify's own rows."""

from typing import NewType

from tidings.kernel.ids import IdKind

ApiKeyId = NewType("ApiKeyId", str)
TemplateId = NewType("TemplateId", str)
TemplateVersionId = NewType("TemplateVersionId", str)
PreferencesId = NewType("PreferencesId", str)
ConsentEventId = NewType("ConsentEventId", str)
DeliveryAttemptId = NewType("DeliveryAttemptId", str)
SuppressionId = NewType("SuppressionId", str)
AddressRefusalId = NewType("AddressRefusalId", str)
ChannelId = NewType("ChannelId", str)
ChannelCredentialId = NewType("ChannelCredentialId", str)
OptOutTokenId = NewType("OptOutTokenId", str)
ScheduledWorkId = NewType("ScheduledWorkId", str)
ImportId = NewType("ImportId", str)

API_KEY = IdKind("key", ApiKeyId)
TEMPLATE = IdKind("tpl", TemplateId)
TEMPLATE_VERSION = IdKind("tpv", TemplateVersionId)
PREFERENCES = IdKind("rpf", PreferencesId)
CONSENT_EVENT = IdKind("cns", ConsentEventId)
DELIVERY_ATTEMPT = IdKind("dat", DeliveryAttemptId)
SUPPRESSION = IdKind("sup", SuppressionId)
ADDRESS_REFUSAL = IdKind("arf", AddressRefusalId)
CHANNEL = IdKind("ch", ChannelId)
CHANNEL_CREDENTIAL = IdKind("chc", ChannelCredentialId)
OPT_OUT_TOKEN = IdKind("oot", OptOutTokenId)
SCHEDULED_WORK = IdKind("sch", ScheduledWorkId)
IMPORT = IdKind("imp", ImportId)
