"""What happened: import, check, align, split and store logs."""

from .align import on_grid
from .checks import check_log, faults, require_sound
from .files import content_digest
from .importing import import_logs
from .mapping import Mapping, Reading, mapping_from_dict, mapping_to_toml, read_mapping
from .proposal import propose_mapping
from .split import Parted, piece, split, split_each
from .store import read_logs, write_logs

__all__ = [
    "Mapping",
    "Parted",
    "Reading",
    "check_log",
    "content_digest",
    "faults",
    "import_logs",
    "mapping_from_dict",
    "mapping_to_toml",
    "on_grid",
    "piece",
    "propose_mapping",
    "read_logs",
    "read_mapping",
    "require_sound",
    "split",
    "split_each",
    "write_logs",
]
