"""From recorded throws to a simulator of what contact does."""
