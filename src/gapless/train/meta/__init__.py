"""Meta-learning: policies trained over a belief so that a few episodes in one world change them into that world's own."""
