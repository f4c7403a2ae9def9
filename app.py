"""The dashboard: `streamlit run app.py`.

The server imports this file once, and with it all that is slow to load, before anyone
waits; each session then runs it as its script.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when torch is imported: one per session

import streamlit as st

from xpos_viz.ui import main, middleware, prepare, routes

if __name__ == "__main__":
    main()
else:
    prepare()
    app = st.App(__file__, routes=routes(), middleware=middleware())
