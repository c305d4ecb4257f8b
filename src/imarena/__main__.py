"""``python -m imarena``."""

from imarena.cli import main

main()
