"""A journal on the local disk: what was appended is read again, whatever became of its writer or its disk."""

import fcntl
import os
import resource
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tidings.kernel.errors import DegradedError
from tidings.kernel.journal.file import is_left
from tidings.kernel.journal.journal import MOST_FILES, Journal
from tidings.kernel.keys.key_file import LocalKeyFileKms

ENTRY = b"<m-1@vendor.example> was accepted"


class Desk:
    """Journals of several processes of one host."""

    def __init__(self, place: Path) -> None:
        self.folder = place / "journal"
        self.kms = LocalKeyFileKms(place / "keys" / "master.json")
        self.now = 100.0
        self.missed = 0

    def journal(
        self,
        name: str = "wrk_1",
        *,
        folder: Path | None = None,
        full_bytes: int = 4096,
        full_boxes: int = 1000,
    ) -> Journal:
        return Journal(
            folder or self.folder,
            self.kms,
            name=lambda: name,
            monotonic=lambda: self.now,
            on_missed=self._miss,
            full_bytes=full_bytes,
            full_boxes=full_boxes,
        )

    def _miss(self, count: int) -> None:
        self.missed += count

    async def all_entries(self) -> list[bytes]:
        """As a process reads them that has just started."""
        reader = self.journal("wrk_reader")
        return [entry for path in reader.files() for entry in await reader.read(path) or ()]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.fixture
def limit_files() -> Iterator[Callable[[int], None]]:
    """Limits how long files may get, as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda most: resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


async def test_what_was_appended_is_read_by_another_process(desk: Desk) -> None:
    journal = desk.journal()
    await journal.get_ready()
    journal.append("a", ENTRY)
    journal.append("b", b"")

    # Its writer has not closed, nor flushed, anything.
    assert await desk.all_entries() == [ENTRY, b""]


async def test_the_disk_holds_nothing_in_the_clear_and_is_ours_alone(desk: Desk) -> None:
    journal = desk.journal()
    await journal.get_ready()
    journal.append("a", ENTRY)

    (path,) = journal.files()
    assert b"vendor" not in path.read_bytes()
    assert path.stat().st_mode & 0o077 == 0
    assert desk.folder.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("cut", [1, 5, 30])
async def test_a_torn_last_entry_is_not_there(desk: Desk, cut: int) -> None:
    journal = desk.journal()
    await journal.get_ready()
    journal.append("a", ENTRY)
    journal.append("b", b"torn")

    (path,) = journal.files()
    os.truncate(path, path.stat().st_size - cut)

    assert await desk.all_entries() == [ENTRY]


async def test_a_file_that_ends_within_its_head_has_no_entries(desk: Desk) -> None:
    journal = desk.journal()
    await journal.get_ready()
    journal.append("a", ENTRY)
    (path,) = journal.files()
    whole = path.read_bytes()
    for size in (0, 4, 9, 20):
        path.write_bytes(whole[:size])

        assert await desk.all_entries() == []


async def test_an_altered_entry_and_one_of_another_file_are_not_believed(desk: Desk) -> None:
    journal = desk.journal()
    await journal.get_ready()
    journal.append("a", ENTRY)
    (path,) = journal.files()
    content = bytearray(path.read_bytes())
    # A copy under another name: its boxes are tied to the file that they were written to.
    path.with_name("wrk_2.00000001.journal").write_bytes(content)
    content[-1] ^= 1
    path.write_bytes(content)

    assert await desk.all_entries() == []


async def test_a_journal_of_another_installation_is_not_readable(desk: Desk, tmp_path: Path) -> None:
    foreign = Desk(tmp_path / "elsewhere")
    theirs = foreign.journal()
    await theirs.get_ready()
    theirs.append("a", ENTRY)
    (path,) = theirs.files()

    assert await desk.journal().read(path) is None


async def test_what_is_settled_leaves_nothing_on_the_disk(desk: Desk) -> None:
    journal = desk.journal()
    await journal.get_ready()
    (path,) = journal.files()
    empty = path.stat().st_size
    journal.append("a", ENTRY)
    journal.append("b", ENTRY)

    journal.settle(["a", "never appended"])
    assert len(await desk.all_entries()) == 2
    journal.settle(["b"])
    assert path.stat().st_size == empty

    journal.append("c", ENTRY)
    assert await desk.all_entries() == [ENTRY]


async def test_a_full_file_is_followed_by_another_and_goes_when_it_is_settled(desk: Desk) -> None:
    journal = desk.journal(full_bytes=500)
    for number in range(20):
        await journal.get_ready()
        journal.append(f"{number}", b"%d" % number)

    first, *others = journal.files()
    assert others
    assert [int(entry) for entry in await desk.all_entries()] == list(range(20))
    in_first = len(await journal.read(first) or ())
    journal.settle([f"{number}" for number in range(in_first)])
    assert journal.files() == others
    journal.settle([f"{number}" for number in range(20)])
    assert await desk.all_entries() == []
    assert len(journal.files()) == 1


async def test_a_key_seals_only_so_many_entries_although_they_are_forgotten(desk: Desk) -> None:
    journal = desk.journal(full_boxes=3)
    names = set()
    for number in range(9):
        await journal.get_ready()
        names |= {path.name for path in journal.files()}
        journal.append(f"{number}", ENTRY)
        journal.settle([f"{number}"])

    assert len(names) == 3
    assert len(journal.files()) == 1


async def test_a_file_is_seen_only_when_it_is_locked_and_has_its_head(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process would take it for one of the dead, and remove it."""
    journal, seen = desk.journal(), []
    lock = fcntl.flock

    def locks(descriptor: int, operation: int) -> None:
        seen.append((journal.files(), len(journal.begun())))
        lock(descriptor, operation)

    with monkeypatch.context() as patched:
        patched.setattr(fcntl, "flock", locks)
        await journal.get_ready()
    (path,) = journal.files()

    # The last lock; the key file has one too.
    assert seen[-1] == ([], 1)
    assert journal.begun() == []
    assert not is_left(path)
    assert path.stat().st_size > 0


async def test_a_file_of_the_same_name_is_not_overwritten(desk: Desk) -> None:
    first, second = desk.journal(), desk.journal()
    await first.get_ready()
    first.append("a", ENTRY)

    await second.get_ready()

    assert not second.is_writing
    assert second.begun() == []
    assert await desk.all_entries() == [ENTRY]


async def test_a_process_that_settles_nothing_does_not_fill_the_disk(desk: Desk) -> None:
    journal = desk.journal(full_bytes=150)
    for number in range(4 * MOST_FILES):
        await journal.get_ready()
        journal.append(f"{number}", ENTRY)

    assert len(journal.files()) == MOST_FILES
    assert desk.missed > 0


async def test_a_clean_end_leaves_only_what_is_unsettled(desk: Desk) -> None:
    clean, unclean = desk.journal("wrk_1"), desk.journal("wrk_2")
    for journal in (clean, unclean):
        await journal.get_ready()
        journal.append("a", ENTRY)
    clean.settle(["a"])
    for journal in (clean, unclean):
        await journal.close()

    (left,) = clean.files()
    assert left.name.startswith("wrk_2.")
    assert await desk.all_entries() == [ENTRY]


async def test_only_a_file_without_a_living_writer_can_be_dropped(desk: Desk) -> None:
    living, other = desk.journal("wrk_1"), desk.journal("wrk_2")
    await living.get_ready()
    living.append("a", ENTRY)
    (path,) = living.files()

    other.drop(path)
    assert not is_left(path)
    assert await desk.all_entries() == [ENTRY]
    await living.close()
    other.drop(path)
    assert living.files() == []
    assert is_left(path)


async def test_a_full_disk_costs_the_journal_and_not_the_work(
    desk: Desk, limit_files: Callable[[int], None]
) -> None:
    """Half of an entry would make those behind it unreadable: nothing of it stays, and later ones are readable."""
    journal = desk.journal(full_bytes=10_000_000)
    await journal.get_ready()
    # Longer than what the tests have printed so far, which is in a file too.
    large = bytes(3_000_000)
    journal.append("a", large)
    (path,) = journal.files()
    before = path.stat().st_size

    limit_files(before + 10)
    journal.append("b", ENTRY)
    journal.append("c", ENTRY)
    assert path.stat().st_size == before
    assert desk.missed == 2
    with pytest.raises(DegradedError):
        await journal.check()
    said_so = journal.is_writing
    limit_files(9_000_000)
    journal.append("d", b"after")

    await journal.check()
    assert (said_so, journal.is_writing) == (False, True)
    assert await desk.all_entries() == [large, b"after"]


async def test_a_folder_that_can_not_be_made_is_tried_again_after_a_while(desk: Desk, tmp_path: Path) -> None:
    place = tmp_path / "taken"
    place.write_text("a file where the folder should be")
    journal = desk.journal(folder=place)
    await journal.get_ready()
    journal.append("a", ENTRY)
    assert (desk.missed, journal.is_writing, journal.files()) == (1, False, [])

    place.unlink()
    await journal.get_ready()
    too_early = journal.is_writing
    desk.now += 60
    await journal.get_ready()
    journal.append("b", ENTRY)

    assert (too_early, journal.is_writing) == (False, True)
    assert len(journal.files()) == 1
    journal.settle(["a", "b"])
