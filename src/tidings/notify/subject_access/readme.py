"""What the archive says about itself, for the person who opens it."""

from typing import Final

README: Final = """\
This archive holds everything that is kept about one person here.

profile.json          who you are known as: name, language, time zone, tags, and your addresses in the clear
preferences.json      what you allow and what you do not, and how often it comes
consents.jsonl        every yes and every no that you gave: when, how it came, and where that can be looked up
suppressions.json     addresses of yours that are not written to, and why
refusals.json         what was unsubscribed from by links in messages to your addresses; not there where nothing was
reaching.json         how well messages reached you on each channel; not there where nothing was learned
conversations.json    what you wrote, and what was answered by itself; not there where you wrote nothing
notifications.jsonl   every message to you, the newest first: what it was made from, its words, and what became of it
planned.jsonl         what is to be sent to you later: when, from which text and details, and which event it answers
digests.jsonl         your messages that are gathered into one, of the last thirty days: when it comes, or came, and what is in it
batches.jsonl         mailings to many that you are in, or are to be in: when, what a list says of you, and what became of your message
inbox.jsonl           what is in your inbox in the application, and when you saw and read it
attachments/          the files that went along, by message
audit.jsonl           who looked at your data or read your messages, or changed something, and when

A .jsonl file has one record on each line.

Of a message's words only a fingerprint is kept. They are put together once more for this archive, from the same text
and the same details as then. "exact": true says that the fingerprint agrees: it is what was sent. Where it is false,
something such as your name was changed since. Where "gone" stands instead, a text or a file that it needs is not kept
any more, and the word beside it says why.

Companies that carried messages to you (in "what_vendors_said" each is named) keep what they were given by their own
rules; ask them too.
"""
