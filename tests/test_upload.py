"""A file of one's own in the dashboard, without a browser: taken up, asked about, refused."""

import io
import json
import re
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.util import calc_hash

import xpos_viz
from tests import tolerances
from tests.apptest import address, again, control, fresh, words
from tests.models import tiny
from tests.test_capture import random
from xpos_viz import Capture, apply_encoding, read_capture, rope
from xpos_viz.inputs.captured import STORE, keep, lookup
from xpos_viz.inputs.files import capture_bytes
from xpos_viz.inputs.files.examples import FROM_A_MODEL, FROM_ARRAYS
from xpos_viz.inputs.sample import sample_capture
from xpos_viz.limits import LIMITS, Limits
from xpos_viz.texts import LANGUAGES, texts
from xpos_viz.ui import upload

ROOT = Path(xpos_viz.__file__).parent.parent
HOSTILE = ("<script>alert(1)</script>", " **bold**", " [a](b) $x$", "\u202eevil", "\x1b[31m")
NONE = "0" * 64
pytestmark = pytest.mark.usefixtures("steady")


def capture(**changes):
    """A capture of some tokens, with a model's name."""
    tokens = tuple("abcde")
    return replace(Capture(*random(), layers=(3, 9), tokens=tokens, model="mine"), **changes)


def opened(parameters=None, page="compare"):
    """A page of the dashboard with the drawer of files open."""
    app = fresh(parameters)
    app._page_hash = calc_hash(page) if page != "compare" else ""
    app.session_state["own"] = True
    app.run()
    assert not app.exception
    return app


def uploaded(content, parameters=None, page="compare", name="mine.npz"):
    """The page once a file was dropped."""
    app = opened(parameters, page)
    (place,) = app.file_uploader
    return again(place.set_value((name, content, "application/octet-stream")))


def parts(shape_q, shape_k, **words):
    """An .npz file of arrays."""
    file, generator = io.BytesIO(), np.random.default_rng(0)
    q, k = (generator.normal(size=shape).astype(np.float32) for shape in (shape_q, shape_k))
    np.savez(file, q=q, k=k, **words)
    return file.getvalue()


def widget(app, label, language="en") -> Any:
    """A control of the drawer by the words beside it."""
    kinds = ("selectbox", "number_input", "button_group")
    found = [each for kind in kinds for each in app.get(kind)]
    (one,) = [each for each in found if each.proto.label == texts(language)(f"own.{label}")]
    return one


def test_a_file_is_shown_and_its_link_names_it():
    app = uploaded(capture_bytes(capture()))
    assert not app.error
    assert address(app) == {"source": "capture", "data": capture().hash}
    assert control(app, "source").value == "capture"
    assert control(app, "layer").value == 3
    assert "mine: 2 layers, 4 query heads on 2 key heads, 5 tokens of width 8, float32." in words(
        app
    )
    assert "Queries and keys of mine, layer 3, head 0, brought along" in words(app)
    app = again(control(app, "layer").set_value(9))
    app = again(control(app, "head").set_value(2))
    assert address(app) == {
        "source": "capture",
        "data": capture().hash,
        "layer": "9",
        "head": "2",
    }


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "page", ["compare", "decay", "pairs", "tokens", "layers", "long", "precision", "neighbours"]
)
def test_every_page_shows_a_capture(page, language):
    data = keep(capture())
    app = opened({"source": "capture", "data": data, "lang": language}, page)
    assert not app.error
    assert not app.warning
    assert not re.search(r"\b(nan|inf)\b", words(app))


@pytest.mark.parametrize(
    "changes",
    [
        {"tokens": ()},
        {"masks": ("sliding:2",)},
        {"masks": ("none", "causal")},
        {"masks": ("blockwise:2",), "softcap": 20.0, "scales": (0.3,)},
        {"encodings": (rope(4, base=500.0).within(8),)},
        {"encodings": (None, rope(8, base=1e6))},
        {"layout": "interleaved"},
        {"query_positions": torch.arange(5) + 7, "key_positions": torch.arange(5) + 7},
        {"tokens": HOSTILE, "model": "**<b>x</b>** $y$"},
    ],
    ids=str,
)
@pytest.mark.parametrize("page", ["compare", "tokens", "pairs", "decay"])
def test_any_capture_is_shown(page, changes):
    app = opened({"source": "capture", "data": keep(capture(**changes))}, page)
    assert not app.error
    assert not app.warning


@pytest.mark.parametrize(
    ("letters", "said"),
    [(8000, []), (9001, ["Shown: the first 8,000 of 9,001 characters."])],
)
def test_of_a_long_text_the_beginning_is_shown(letters, said):
    data = keep(capture(text=("tide " * 1801)[:letters]))
    app = opened({"source": "capture", "data": data})
    (shown,) = (text.value for text in app.text)
    assert shown == ("tide " * 1600).strip()
    notes = [re.sub(r"\\(.)", r"\1", caption.value) for caption in app.caption]
    assert [note for note in notes if note.startswith("Shown:")] == said


@pytest.mark.parametrize("tokens", [1, 2])
def test_few_tokens(tokens):
    q, k = random(queries=tokens, keys=tokens)
    for page in ("compare", "tokens"):
        app = opened({"source": "capture", "data": keep(Capture(q, k))}, page)
        assert not app.error


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\x80\x04junk", "got a pickle"),
        (b"PK\x03\x04junk", "File is not a zip file"),
        (parts((3, 5, 7, 9), (3, 5, 7, 9)), "got the shapes"),
        (capture_bytes(Capture(*random(queries=3))), "pages show a query of every token"),
        (b"q0,q1,k0,k1\n<script>alert(1)</script>,1,1,1\n", "<script>"),
    ],
    ids=["pickle", "zip", "odd", "few queries", "markup"],
)
def test_what_cannot_be_used_is_refused_beside_the_uploader(content, reason):
    before = opened({"name": "pronoun"})
    app = uploaded(content, {"name": "pronoun"})
    (error,) = app.error
    assert reason in re.sub(r"\\(.)", r"\1", error.value)
    assert not re.search(r"(?<!\\)[<*`\[]", error.value)
    assert address(app) == address(before)
    assert control(app, "name").value == "pronoun"
    app = again(app.file_uploader[0].set_value(("a.npz", capture_bytes(capture()), "")))
    assert not app.error


def test_an_unclear_order_is_asked_for_with_its_sizes():
    content = parts((4, 4, 6, 6), (4, 4, 6, 6))
    app = uploaded(content)
    order = widget(app, "order")
    assert "layers 4 × heads 4 × tokens 6 × width 6" in order.options
    assert "layers 4 × tokens 6 × heads 4 × width 6" not in order.options[:1]
    assert address(app) == {}
    reading = "layers heads tokens head_dim"
    app = again(order.set_value(reading))
    assert address(app)["data"] == read_capture(content, reading=reading).hash
    assert not [each for each in app.selectbox if each.label == texts("en")("own.order")]


def test_a_rotation_is_warned_of_and_undone():
    plain = sample_capture("pronoun")
    q, k = apply_encoding(plain.q.double(), plain.k.double(), rope(64, base=500.0), layout="half")
    rotated = replace(plain, q=q, k=k, encodings=(None,))
    app = uploaded(capture_bytes(rotated), {"gamma": "0.7"})
    (warning,) = app.warning
    assert warning.value == texts("en")("own.looks", base="562", pairs="i and i + d/2")
    app = again(widget(app, "rotated").set_value("after"))
    assert not app.warning
    app = again(widget(app, "rotation").set_value(500.0))
    shown = lookup(address(app)["data"])
    assert torch.allclose(shown.q, plain.q.double(), atol=tolerances.FLOAT32_WEIGHTS)
    assert shown.encodings[0] == rope(64, base=500.0)
    assert address(app)["gamma"] == "0.7"
    app = again(widget(app, "rotated").set_value("before"))
    assert address(app)["data"] == rotated.hash
    app = again(widget(app, "layout").set_value("interleaved"))
    assert lookup(address(app)["data"]).layout == "interleaved"


def test_what_was_brought_can_be_gone_back_to():
    app = uploaded(capture_bytes(capture()))
    app = again(control(app, "source").set_value("expectation"))
    assert address(app) == {"source": "expectation"}
    app = again(control(app, "source").set_value("capture"))
    assert address(app)["data"] == capture().hash


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_link_to_data_that_are_not_here_says_which(language):
    app = opened({"source": "capture", "data": NONE, "layer": "9", "lang": language})
    (warning,) = app.warning
    assert NONE in warning.value
    assert "use the file that it was made from: upload it again" in warning.value
    assert control(app, "source", language).value == "sample"


def test_data_that_were_let_go_are_asked_for(monkeypatch):
    app = uploaded(capture_bytes(capture()))
    monkeypatch.setattr(STORE, "_kept", type(STORE._kept)())
    monkeypatch.setattr(STORE, "_used", type(STORE._used)())
    app.run()
    assert not app.exception
    (warning,) = app.warning
    assert capture().hash in warning.value
    assert control(app, "source").value == "sample"


def test_nothing_of_an_upload_is_kept_but_the_capture(monkeypatch):
    removed = []
    monkeypatch.setattr(
        MemoryUploadedFileManager, "remove_file", lambda _, __, file_id: removed.append(file_id)
    )
    app = uploaded(capture_bytes(capture()))
    assert len(removed) == 1
    assert app.file_uploader[0].value is None
    held = app.session_state._state._state.filtered_state.values()
    assert len(held) > 5
    assert not [value for value in held if isinstance(value, bytes | Capture | io.BytesIO)]


def test_the_server_takes_files_of_the_size_that_is_read():
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))
    assert settings["server"]["maxUploadSize"] == Limits().upload >> 20
    (place,) = opened().file_uploader
    assert place.proto.max_upload_size_mb == LIMITS.upload >> 20
    assert list(place.allowed_type) == [f".{ending}" for ending in upload.ENDINGS]
    assert "up to 64 MiB" in words(opened())


def test_uploads_are_kept_out_of_files():
    upload.in_memory()
    assert upload.MultiPartParser.spool_max_size > LIMITS.upload


def test_the_scripts_that_are_shown_run(tmp_path, monkeypatch):
    shown = [code.value for code in opened().code]
    assert FROM_ARRAYS.strip() in shown
    assert FROM_A_MODEL.strip() in shown
    monkeypatch.chdir(tmp_path)
    exec(compile(FROM_ARRAYS, "arrays", "exec"), {})
    made = read_capture(tmp_path / "mine.npz")
    assert (made.q.shape, made.k.shape) == ((2, 4, 8, 64), (2, 2, 8, 64))
    assert made.labels == ("a", "model", "of", "your", "own", "reads", "eight", "tokens")
    assert (made.layers, made.encodings[0]) == ((0, 7), rope(64))


def test_the_script_of_a_model_runs(tmp_path, monkeypatch):
    """A folder that has the name on the Hub takes its place."""
    folder = tmp_path / "HuggingFaceTB" / "SmolLM2-135M"
    tiny.build("llama", vocab_size=259, num_hidden_layers=30, head_dim=2).save_pretrained(folder)
    tiny.tokenizer().save_pretrained(folder)
    monkeypatch.chdir(tmp_path)
    exec(compile(FROM_A_MODEL, "model", "exec"), {})
    made = read_capture(tmp_path / "mine.safetensors")
    assert (made.layers, made.model) == ((0, 15, 29), "SmolLM2-135M")
    assert "".join(made.tokens[1:]) == made.text
    assert made.text.startswith("The keeper")


def test_hostile_words_are_letters():
    data = keep(capture(tokens=HOSTILE, model="**<b>x</b>** $y$", text="a\x1b[31m<b>"))
    app = opened({"source": "capture", "data": data}, "tokens")
    (html,) = (each.proto.body for each in app.get("html") if "<i class" in each.proto.body)
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    drawn = json.dumps([json.loads(chart.proto.spec) for chart in app.get("plotly_chart")])
    assert "<script" not in drawn
    assert "&lt;script&gt;" in drawn
    said = [each.value for each in (*app.markdown, *app.caption)]
    for line in said:
        assert not re.search(r"(?<!\\)\*\*<|(?<!\\)<(b|script)>|(?<!\\)\$y|(?<!\\)\[a", line)
    everything = "".join((html, drawn, *said))
    assert not {"\u202e", "\x1b"} & set(everything)
