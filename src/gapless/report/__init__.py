"""Pages and pictures over what is stored."""

from .comparison import Chapter, write_comparison
from .film import shoot
from .page import write_report
from .story import FILM

__all__ = ["FILM", "Chapter", "shoot", "write_comparison", "write_report"]
