"""Pages and pictures over what is stored."""

from .page import write_report

__all__ = ["write_report"]
