"""Measure, print and, if asked, record.

python -m benchmarks [scores|maps|files|choosing|lab|browser|tour|sessions|play] [--record]
"""

import argparse
import signal
import sys

from benchmarks import browser, choosing, files, lab, maps, play, report, scores, sessions, tour

MEASUREMENTS = {
    "scores": scores.measure,
    "maps": maps.measure,
    "files": files.measure,
    "choosing": choosing.measure,
    "lab": lab.measure,
    "browser": browser.measure,
    "tour": tour.measure,
    "sessions": sessions.measure,
    "play": play.measure,
}


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("name", nargs="?", choices=MEASUREMENTS, help="only one of them")
    parser.add_argument(
        "--rounds",
        type=int,
        help="rounds of each measurement (scores 25, tour and sessions 20, others 7)",
    )
    parser.add_argument("--minutes", type=float, help="minutes of play (1)")
    parser.add_argument("--record", action="store_true", help="write the tables into the README.md")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that servers and browser end too
    for name in [arguments.name] if arguments.name else MEASUREMENTS:
        measure, amount = MEASUREMENTS[name], arguments.rounds
        if name == "play":
            amount = arguments.minutes
        lines = measure(amount) if amount else measure()
        text = "\n".join([report.machine(), "", *lines])
        print(text)
        if arguments.record:
            report.record(name, text)


if __name__ == "__main__":
    main()
