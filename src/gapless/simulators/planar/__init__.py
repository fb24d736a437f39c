"""A world in two dimensions whose contacts a network solves."""
