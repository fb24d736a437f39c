"""What a clone is measured against: networks that must learn geometry and momentum, too."""

from .transformer import ObjectTransformer
from .vertices import VertexGraph

__all__ = ["ObjectTransformer", "VertexGraph"]
