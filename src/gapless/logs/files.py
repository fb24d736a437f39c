"""Whatever holds logs, a file or a folder, as episodes of named columns of numbers."""

import hashlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from gapless.core import GaplessError

from .columns import Episodes
from .csv_files import csv_widths, read_csv
from .csv_folders import csv_folder_files, csv_folder_widths, read_csv_folder
from .lerobot_datasets import INFO, dataset_files, dataset_widths, read_dataset
from .mcap_files import bag_files, bag_widths, read_bag
from .npz_files import npz_widths, read_npz
from .parquet_files import parquet_widths, read_parquet_episodes


@dataclass(frozen=True)
class Kind:
    """How one kind of recording is read."""

    widths: Callable[[Path], dict[str, int]]
    """Path → its columns and how many numbers a row of each holds."""
    read: Callable[[Path, Collection[str], str], Episodes]
    """Path, wanted columns, episode column → episodes."""
    files: Callable[[Path], list[Path]] = lambda path: [path]
    """Path → the files that are read."""


FILES = {
    ".csv": Kind(csv_widths, read_csv),
    ".npz": Kind(npz_widths, read_npz),
    ".parquet": Kind(parquet_widths, read_parquet_episodes),
    ".mcap": Kind(bag_widths, read_bag, bag_files),
}
DATASET = Kind(dataset_widths, read_dataset, dataset_files)
BAG = FILES[".mcap"]
CSV_FOLDER = Kind(csv_folder_widths, read_csv_folder, csv_folder_files)
SQLITE = ".db3"


def column_widths(path: Path) -> dict[str, int]:
    """The columns of a recording and how many numbers a row of each holds; of several, the first's."""
    return _kind(path).widths(path)


def read_episodes(path: Path, wanted: Collection[str], episode: str = "") -> Episodes:
    """The wanted columns of a recording, as far as it has them, cut into episodes by the column `episode` if named."""
    return _kind(path).read(path, wanted, episode)


def content_digest(paths: Sequence[Path]) -> str:
    """A name for what the files hold; in a folder, their names count too."""
    found = hashlib.sha256()
    for path in paths:
        for file in _kind(path).files(path):
            if path.is_dir():
                found.update(file.relative_to(path).as_posix().encode())
            with file.open("rb") as content:
                while block := content.read(2**20):
                    found.update(block)
    return found.hexdigest()


def _kind(path: Path) -> Kind:
    if path.is_dir():
        return _folder_kind(path)
    if not path.is_file():
        raise GaplessError(f"there is no file {path}. Check the path.")
    if path.suffix.lower() == SQLITE:
        raise _sqlite(path)
    if path.suffix.lower() not in FILES:
        raise GaplessError(f"{path} is no kind of file that can be imported. Save it as {', '.join(FILES)}.")
    return FILES[path.suffix.lower()]


def _folder_kind(folder: Path) -> Kind:
    found = _recording(folder)
    if found is not None:
        return found
    below = [f for f in sorted(folder.iterdir()) if f.is_dir() and not f.is_symlink() and _recording(f) is not None]
    if below:
        return _several(below)
    raise GaplessError(
        f"{folder} holds no recording: no {INFO} (a LeRobot dataset), no .mcap (a ROS 2 bag), no .csv, and no folder "
        f"with one of these. Name the files themselves if they are {', '.join(FILES)}."
    )


def _recording(folder: Path) -> Kind | None:
    """How the folder itself is read, whatever is in the folders below it."""
    if (folder / INFO).is_file():
        return DATASET
    suffixes = {f.suffix.lower() for f in folder.iterdir() if f.is_file()}
    if SQLITE in suffixes and ".mcap" not in suffixes:
        raise _sqlite(folder)
    return BAG if ".mcap" in suffixes else CSV_FOLDER if ".csv" in suffixes else None


def _sqlite(path: Path) -> GaplessError:
    return GaplessError(
        f"{path} is a ROS 2 bag in SQLite (.db3); MCAP is read. Convert it: `ros2 bag convert -i {path} -o options.yaml`, "
        "with `output_bags: [{uri: converted, storage_id: mcap, all_topics: true}]` in options.yaml."
    )


def _several(folders: Sequence[Path]) -> Kind:
    """A folder of recordings: each is an episode, or several."""

    def read(_: Path, wanted: Collection[str], episode: str) -> Episodes:
        found = [(folder.name, _folder_kind(folder).read(folder, wanted, episode)) for folder in folders]
        return {
            name if len(episodes) == 1 else f"{name}/{label}": columns
            for name, episodes in found
            for label, columns in episodes.items()
        }

    return Kind(
        lambda _: column_widths(folders[0]),
        read,
        lambda _: [file for folder in folders for file in _folder_kind(folder).files(folder)],
    )
