"""The dashboard as one would write it first: a slider, two Plotly heatmaps, all defaults."""

import plotly.graph_objects as go
import streamlit as st
import torch

from xpos_viz import attention_scores, rope, xpos

length = int(st.query_params.get("length", "512"))
gamma = st.slider("γ", 0.05, 2.0, 0.4, 0.05)
ones = torch.ones(length, 64)
masked = torch.ones(length, length, dtype=torch.bool).triu(1)

for title, encoding in (("RoPE", rope(64)), (f"XPos, γ {gamma:g}", xpos(64, gamma=gamma))):
    scores = attention_scores(ones, ones, encoding).masked_fill(masked, torch.nan)
    st.plotly_chart(go.Figure(go.Heatmap(z=scores.numpy()), layout={"title": title}))
