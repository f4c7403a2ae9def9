"""What is read: cut by path, the same each time, and refused in words."""

import sysconfig

import pytest
import torch

from xpos_viz.lab.corpus import Corpus, folder, standard_library, text_file


def text(corpus):
    """Both parts as bytes."""
    return [part.numpy().tobytes() for part in (corpus.train, corpus.held_out)]


def test_the_standard_library_is_cut_by_file_and_has_no_tests():
    corpus = standard_library()
    train, held_out = text(corpus)
    assert 5 < len(train) / len(held_out) < 10
    assert min(corpus.files) > 50
    assert b"def dataclass(" in train + held_out
    assert (b"def dataclass(" in train) != (b"def dataclass(" in held_out)
    assert b"class TestCase_TestAsserts" not in train + held_out
    assert standard_library().hash == corpus.hash


def test_a_file_is_on_its_side_whatever_else_there_is(tmp_path):
    for name in range(40):
        (tmp_path / f"{name}.txt").write_text(f"text {name:2}\n")
    before = text(folder(tmp_path))
    assert min(len(part) for part in before) > 0
    assert sum(len(part) for part in before) == 40 * 8
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "one.txt").write_text("another\n")
    (tmp_path / "picture").write_bytes(b"\x89PNG\xff\x00")
    (tmp_path / "zeros").write_bytes(b"a\0b")
    (tmp_path / "empty").write_text("")
    after = text(folder(tmp_path))
    assert [part.replace(b"another\n", b"") for part in after] == before
    assert sum(len(part) for part in after) == 41 * 8


def test_the_last_eighth_of_a_file_is_held_out(tmp_path):
    (path := tmp_path / "story.txt").write_text("abcdefgh" * 10)
    corpus = text_file(path)
    assert corpus.name == "story.txt"
    assert text(corpus) == [b"abcdefgh" * 8 + b"abcdef", b"gh" + b"abcdefgh"]


def test_another_text_has_another_hash():
    first, second = (torch.tensor([*b"ab"], dtype=torch.uint8), torch.empty(0, dtype=torch.uint8))
    hashes = {Corpus("a", *parts).hash for parts in ((first, second), (second, first))}
    assert len(hashes) == 2
    assert Corpus("another name", first, second).hash in hashes


def test_what_cannot_be_read_is_refused_in_words(tmp_path, monkeypatch):
    said = []

    def refused(make, path):
        with pytest.raises(ValueError) as error:
            make(path)
        said.append(str(error.value).replace(str(tmp_path), "…"))

    refused(folder, tmp_path)
    refused(folder, tmp_path / "nowhere")
    refused(text_file, tmp_path / "nowhere.txt")
    (tmp_path / "one.bin").write_bytes(b"\xff\xfe")
    refused(text_file, tmp_path / "one.bin")
    (tmp_path / "none.txt").write_text("")
    refused(text_file, tmp_path / "none.txt")
    refused(folder, tmp_path)
    (tmp_path / "one.bin").write_text("short")
    refused(folder, tmp_path)
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tmp_path))
    refused(lambda _: standard_library(), None)
    assert said == [
        (
            "… must hold files of text to learn from and to hold out, got 0 and 0 of them; use a "
            "folder with more files, or one file of text."
        ),
        "a corpus must be a folder that exists, got '…/nowhere'.",
        "a corpus must be a file that exists, got '…/nowhere.txt'.",
        "a corpus must be text in UTF-8, got '…/one.bin', which is not.",
        "a corpus must have text, got '…/none.txt', which is empty.",
        (
            "… must hold files of text to learn from and to hold out, got 0 and 0 of them; use a "
            "folder with more files, or one file of text."
        ),
        (
            "… must hold files of text to learn from and to hold out, got 1 and 0 of them; use a "
            "folder with more files, or one file of text."
        ),
        (
            "Python's standard library has no .py files in …, got none; use a folder or a text "
            "file of your own."
        ),
    ]


def test_too_short_a_text_is_refused(tmp_path):
    (path := tmp_path / "story.txt").write_text("abcdefgh" * 10)
    corpus = text_file(path)
    corpus.check(70, 10)
    with pytest.raises(ValueError) as error:
        corpus.check(71, 10)
    assert str(error.value) == (
        "story.txt must have at least 71 bytes to learn from, got 70; use more text, or a setting "
        "with a shorter training length."
    )
    with pytest.raises(ValueError, match=r"at least 11 bytes held out, got 10"):
        corpus.check(70, 11)


def test_a_folder_that_one_stands_in_has_its_name(tmp_path, monkeypatch):
    for place in range(20):
        (tmp_path / f"{place}.txt").write_text("some text")
    monkeypatch.chdir(tmp_path)
    assert folder(".").name == tmp_path.name
