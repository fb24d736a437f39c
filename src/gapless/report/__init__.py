"""Pages and pictures over what is stored."""

from .clone_film import shoot_beside, swayed
from .comparison import Chapter, write_comparison
from .film import shoot
from .local_server import Answer, LocalServer
from .page import write_report
from .story import FILM
from .trust_charts import Promise, Visits, trust_section, write_trust
from .world_film import shoot_world
from .world_page import world_page

__all__ = [
    "FILM",
    "Answer",
    "Chapter",
    "LocalServer",
    "Promise",
    "Visits",
    "shoot",
    "shoot_beside",
    "shoot_world",
    "swayed",
    "trust_section",
    "world_page",
    "write_comparison",
    "write_report",
    "write_trust",
]
