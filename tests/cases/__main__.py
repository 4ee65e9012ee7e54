"""``python -m tests.cases FILE.jsonl [--kind KIND] [-v]``: run a file of cases."""

from __future__ import annotations

import argparse
import sys
import traceback
from collections import defaultdict
from pathlib import Path

from tests.cases import checkers, problems_of, rows


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.cases", description="Run a file of cases.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--kind", action="append", help="only rows of this kind (may be repeated)")
    parser.add_argument("-v", "--verbose", action="store_true", help="say what does not hold in each failing row")
    options = parser.parse_args()

    known = checkers()
    total: dict[str, int] = defaultdict(int)
    failing: dict[str, list[str]] = defaultdict(list)
    for row in rows(options.file):
        kind = row["kind"]
        if options.kind and kind not in options.kind:
            continue
        total[kind] += 1
        if kind not in known:
            continue
        try:
            problems = problems_of(row, known[kind])
        except Exception:  # a checker that crashes is a failing row, and the others still run
            problems = [traceback.format_exc()]
        if problems:
            failing[kind].append(row["id"])
            if options.verbose:
                print(f"{row['id']}:", *problems, sep="\n    ", file=sys.stderr)

    passed = failed = 0
    for kind in sorted(total):
        if kind not in known:
            print(f"{kind}: not built yet ({total[kind]} rows)")
            continue
        bad = failing[kind]
        passed, failed = passed + total[kind] - len(bad), failed + len(bad)
        print(f"{kind}: {total[kind] - len(bad)}/{total[kind]}" + (f"  failing: {', '.join(bad)}" if bad else ""))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
