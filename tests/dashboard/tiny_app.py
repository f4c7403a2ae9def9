"""The dashboard as it is, but that training takes no time."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when torch is imported: one per session

import streamlit as st

from tests.tiny import shrink
from xpos_viz.ui import main, prepare, routes

if __name__ == "__main__":
    main()
else:
    shrink()
    prepare()
    app = st.App(__file__, routes=routes())
