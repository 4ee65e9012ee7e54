"""``python -m brain`` is ``brain``."""

import sys

from brain.cli import main

if __name__ == "__main__":
    sys.exit(main())
