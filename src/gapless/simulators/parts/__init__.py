"""Parts that act around or inside a simulated machine: motors, friction, gears, networks."""
