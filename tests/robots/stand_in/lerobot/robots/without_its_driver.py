"""A robot whose driver is not installed: it must not keep the others from being found."""

raise ImportError("no module named feetech")
