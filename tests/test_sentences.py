"""A sentence of one's own, without a browser: offered, said first, read, shown and refused."""

import re
import threading

import pytest

from tests import apptest
from tests.apptest import SHORT, address, again, control, words
from tests.models import tiny
from xpos_viz.inputs.captured import lookup
from xpos_viz.limits import LIMITS, MODELS, Limits
from xpos_viz.models import capture
from xpos_viz.models.shelf import offered
from xpos_viz.texts import LANGUAGES, texts
from xpos_viz.ui import sentences, work

pytestmark = pytest.mark.usefixtures("steady", "shelf")

EN = texts("en")
TEXT = "to be"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of an operator: a model, one that is broken, and what is none."""
    at = tmp_path_factory.mktemp("offered")
    tiny.build("llama", vocab_size=259).save_pretrained(at / "tiny-llama")
    tiny.tokenizer().save_pretrained(at / "tiny-llama")
    (at / "broken").mkdir()
    (at / "broken" / "config.json").write_text("{", encoding="utf-8")
    (at / "notes").mkdir()
    (at / "small.gguf").write_bytes(b"GGUF")
    (at / "readme.txt").write_text("none", encoding="utf-8")
    return at


@pytest.fixture
def shelf(folder, monkeypatch):
    """The operator offers the folder."""
    monkeypatch.setenv(MODELS, str(folder))
    return folder


def opened(parameters=None, page="compare"):
    """A page with the drawer of sentences open."""
    app = apptest.opened(page, SHORT | (parameters or {}))
    app.session_state["sentence"] = True
    return again(app)


def waited(app):
    """The page once work is done."""
    for _ in range(200):
        if not app.get("progress"):
            return app
        again(app)
    raise AssertionError("the work does not end")


def asked(app, text=TEXT, model="tiny-llama", layers=""):
    """The page once a sentence was typed."""
    again(app.selectbox(key="model").set_value(model))
    again(app.text_input(key="kept_layers").set_value(layers))
    return waited(again(app.text_area(key="words").set_value(text)))


def reason(app):
    """Why something cannot be read, its signs no longer escaped."""
    (error,) = app.error
    assert not re.search(r"(?<!\\)[<*`\[]", error.value)
    return re.sub(r"\\(.)", r"\1", error.value)


def test_models_of_a_folder_are_offered_by_name(folder):
    assert list(offered(str(folder))) == ["broken", "small.gguf", "tiny-llama"]
    assert offered(str(folder / "none")) == {}
    assert offered(str(folder / "readme.txt")) == {}


def test_a_folder_that_may_not_be_looked_into_offers_nothing(folder, monkeypatch):
    def closed(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("pathlib.Path.iterdir", closed)
    assert offered(str(folder)) == {}


def test_nothing_is_offered_where_the_operator_did_not(folder, monkeypatch):
    titles = {text("sentences.title") for text in map(texts, LANGUAGES)}
    monkeypatch.delenv(MODELS, raising=False)
    assert not titles & {each.label for each in apptest.opened("compare", SHORT).expander}
    monkeypatch.setenv(MODELS, str(folder))
    assert titles & {each.label for each in apptest.opened("compare", SHORT).expander}
    monkeypatch.setattr("xpos_viz.models.shelf.find_spec", lambda _: None)
    assert not titles & {each.label for each in apptest.opened("compare", SHORT).expander}


def test_a_sentence_is_read_and_shown(shelf):
    app = asked(opened())
    assert re.search(
        r"6 tokens, layers kept: 4\. Reading takes about \d+ MB; [\d.]+ [MG]B are free\.",
        words(app),
    )
    assert address(app) == SHORT  # nothing is read yet
    app = waited(again(app.button(key="read_sentence").click()))
    expected = capture(shelf / "tiny-llama", TEXT)
    assert not app.error, reason(app)
    assert address(app) == {"source": "capture", "data": expected.hash}
    assert lookup(expected.hash).tokens == ("<s>", "t", "o", " ", "b", "e")
    assert control(app, "source").value == "capture"
    assert "Queries and keys of tiny-llama, layer 0, head 0" in words(app)
    assert not app.error
    app = again(control(app, "source").set_value("expectation"))
    app = again(control(app, "source").set_value("capture"))
    assert address(app)["data"] == expected.hash


def test_some_layers_are_kept():
    app = asked(opened(page="layers"), layers="1, 3")
    app = waited(again(app.button(key="read_sentence").click()))
    assert not app.error, reason(app)
    assert lookup(address(app)["data"]).layers == (1, 3)
    (ranking,) = app.dataframe
    assert len(ranking.value) == 2 * tiny.HEADS


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"layers": "9"}, "there is no layer 9; use 0 to 3."),
        ({"layers": "all"}, "layers must be numbers between commas, got 'all'; use 0, 8, 16."),
        ({"model": "broken"}, "broken cannot be read ("),
        ({"model": "small.gguf"}, "small cannot be read ("),
        ({"text": "be " * LIMITS.tokens}, "queries and keys must be at most 4,096 tokens, got "),
        (
            {"text": "b" * 10 * LIMITS.tokens},
            "at most 4,096 tokens, got 32,769;",
        ),  # it is cut, and <s>
    ],
    ids=["layer", "layers", "broken", "gguf", "tokens", "letters"],
)
def test_what_cannot_be_read_is_refused_in_words(given, said, shelf):
    app = asked(opened(), **given)
    assert said in reason(app)
    assert str(shelf) not in reason(app)
    assert address(app) == SHORT
    assert "read_sentence" not in {each.key for each in app.button}
    app = asked(app)
    assert not app.error
    assert "read_sentence" in {each.key for each in app.button}


def test_more_than_memory_is_refused_before_anything_is_read(monkeypatch):
    monkeypatch.setattr("psutil.virtual_memory", lambda: type("Memory", (), {"available": 1000}))
    assert "this capture needs about " in reason(asked(opened()))


def test_more_than_is_kept_is_refused_before_anything_is_read(monkeypatch):
    monkeypatch.setattr(sentences, "LIMITS", Limits(kept=100))
    said = reason(asked(opened()))
    assert "queries and keys must be at most 0 MB, got 0 MB; use fewer layers or a" in said


def test_only_what_is_listed_can_be_chosen():
    options = opened().selectbox(key="model").options
    assert options == ["broken", "small.gguf", "tiny-llama"]


def test_models_are_read_one_at_a_time(monkeypatch):
    turn = threading.Semaphore(0)
    monkeypatch.setattr(sentences, "_turn", turn)
    app = asked(opened())
    monkeypatch.setattr(work, "MOMENT", 0.0)
    app = again(app.button(key="read_sentence").click())
    assert [each.proto.text for each in app.get("progress")] == [EN("work.waiting")]
    turn.release()
    assert "data" in address(waited(app))


def test_reading_can_be_stopped(monkeypatch):
    monkeypatch.setattr(sentences, "_turn", threading.Semaphore(0))
    app = asked(opened())
    monkeypatch.setattr(work, "MOMENT", 0.0)
    app = again(app.button(key="read_sentence").click())
    app = again(app.button(key="stop_sentence_read").click())
    assert not app.get("progress")
    assert address(app) == SHORT
    assert app.button(key="read_sentence").label == EN("sentences.read")
