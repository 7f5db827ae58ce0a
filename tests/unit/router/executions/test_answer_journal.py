"""What a worker remembers of the journals that it has read."""

from pathlib import Path

from tidings.kernel.ids import TenantId
from tidings.kernel.journal.journal import Journal
from tidings.kernel.keys.key_file import LocalKeyFileKms
from tidings.router.executions.answer_journal import AnswerJournal


def journal(place: Path, name: str) -> Journal:
    kms = LocalKeyFileKms(place / "keys" / "master.json")
    return Journal(place / "journal", kms, name=lambda: name, monotonic=lambda: 0.0)


async def test_what_was_read_of_a_file_is_forgotten_when_its_writer_has_removed_it(tmp_path: Path) -> None:
    reader, kept = AnswerJournal(journal(tmp_path, "wrk_reader")), journal(tmp_path, "wrk_kept")
    await kept.get_ready()
    for number in range(3):
        writer = journal(tmp_path, f"wrk_{number}")
        await writer.get_ready()
        await reader.find([(TenantId("tnt_1"), "att_1")])
        await writer.close()
    await reader.find([(TenantId("tnt_1"), "att_1")])

    assert list(reader._read) == reader.files() == kept.files()
    assert len(kept.files()) == 1
    await kept.close()
    reader.files()
    assert not reader._read
