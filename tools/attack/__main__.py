"""The long run: draws cases, counts what came of them, and prints every failure so that it can be run again."""

from __future__ import annotations

import argparse
from collections import Counter

import numpy as np

from tools.attack.case import FAILURES, REFUSED, RIGHT, UNFINISHED, Case, draw


def main() -> int:
    """Run the command; the exit status is 1 if something failed."""
    parser = argparse.ArgumentParser(prog="tools.attack", description=__doc__)
    parser.add_argument("--draws", type=int, default=2000, help="cases to draw")
    parser.add_argument("--seed", type=int, default=0, help="of the draws")
    parser.add_argument("--case", help='a case to run again, as it was printed: "Case(model=…)"')
    asked = parser.parse_args()
    if asked.case:
        print(eval(asked.case, {"Case": Case}))
        return 0
    rng = np.random.default_rng(asked.seed)
    counts: Counter[str] = Counter()
    for _ in range(asked.draws):
        case = draw(rng)
        outcome = case.run()
        counts[outcome.kind] += 1
        if outcome.kind in FAILURES:
            print(f"{outcome.kind}: {case}\n    {outcome.words.strip()}", flush=True)
    print(", ".join(f"{kind}: {counts[kind]}" for kind in (RIGHT, REFUSED, UNFINISHED, *FAILURES)))
    return int(any(counts[kind] for kind in FAILURES))


if __name__ == "__main__":
    raise SystemExit(main())
