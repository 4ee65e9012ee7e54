"""How a launcher tells its host, by its exit status, in what way the program ended that did not say so itself.

Below 100: the program's own exit status (99 for more). 128 + n: it was ended by signal n.
"""

from __future__ import annotations

__all__ = ["CPU_TIME", "DEADLINE", "LEASH", "MOST"]

DEADLINE = 124
"""Killed at the deadline; the same number as ``timeout(1)`` has for it."""
CPU_TIME = 123
"""Killed by the limit on processor time."""
LEASH = 122
"""Killed because the host let go or went away."""
MOST = 99
"""The largest status of a program's own."""
