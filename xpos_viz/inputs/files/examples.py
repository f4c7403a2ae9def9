"""Scripts that make files of captures, for a reader to copy; the tests run them."""

FROM_ARRAYS = """\
import numpy as np

tokens = "a model of your own reads eight tokens".split()
q = np.random.randn(2, 4, len(tokens), 64)  # layers, heads, tokens, head_dim, before rotation
k = np.random.randn(2, 2, len(tokens), 64)  # two query heads share each key head
np.savez("mine.npz", q=q, k=k, tokens=tokens, layers=[0, 7], base=10_000.0)
"""
"""Arrays that someone has."""

FROM_A_MODEL = """\
from xpos_viz import save_capture
from xpos_viz.models import capture  # pip install '.[models]'

text = "The keeper of the tide book wrote down every tide."
save_capture("mine.safetensors", capture("HuggingFaceTB/SmolLM2-135M", text, layers=[0, 15, 29]))
"""
"""A model of the Hugging Face Hub, or of a folder."""
