"""How the application is set up for those who start it."""

import os
import subprocess
import sys

import pytest

from tests.apptest import APP

pytestmark = pytest.mark.usefixtures("steady")


SPY = """
import os, sys

class Spy:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            print(os.environ.get("OMP_NUM_THREADS"))
            sys.exit()

sys.meta_path.insert(0, Spy())
import app
"""


@pytest.mark.parametrize(("chosen", "threads"), [(None, "1"), ("3", "3")])
def test_torch_is_imported_with_one_thread_a_session(chosen, threads):
    environment = {**os.environ, "PYTHONPATH": str(APP.parent)} | {"OMP_NUM_THREADS": chosen or ""}
    if not chosen:
        del environment["OMP_NUM_THREADS"]
    done = subprocess.run(
        [sys.executable, "-c", SPY],
        cwd=APP.parent,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout.split() == [threads]
