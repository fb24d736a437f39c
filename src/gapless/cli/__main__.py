"""`python -m gapless.cli`."""

from . import main

main()
