"""The command line: `python -m xpos_viz`."""

from xpos_viz.cli import main

if __name__ == "__main__":
    main(prog_name="xpos-viz")
