"""A network learns to step a world of bodies, and to tell from a few frames what they are made of."""
