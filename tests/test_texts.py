"""The catalogues: complete, alike, used, and filled in with what they ask for."""

import ast
import re
from functools import cache
from pathlib import Path
from string import Formatter

import pytest

import xpos_viz
from xpos_viz.choosing import OBJECTIVES
from xpos_viz.encoding import PARAMETERS, REGISTRY
from xpos_viz.pictures import PICTURES
from xpos_viz.texts import LANGUAGES, catalogue, texts

PACKAGE = Path(xpos_viz.__file__).parent
HAN = re.compile(r"[\u4e00-\u9fff]")
TABLES = {key.split(".")[0] for key in catalogue("en")}
KEY = re.compile(rf"({'|'.join(TABLES)})\.[\w.{{}}]+")


def fields(sentence):
    """The names in braces of a sentence."""
    return {name for _, name, _, _ in Formatter().parse(sentence) if name is not None}


@cache
def nodes():
    """All syntax of the package."""
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py"))
    return [node for tree in trees for node in ast.walk(tree)]


@cache
def words():
    """All words that may be put into a key: strings of the package, and names in registries."""
    strings = (node.value for node in nodes() if isinstance(node, ast.Constant))
    found = {word for word in strings if isinstance(word, str) and re.fullmatch(r"\w+", word)}
    return found | {*OBJECTIVES}  # which are called as their functions are


def template(node):
    """A string, or an f-string with {} for each value, or None."""
    if isinstance(node, ast.JoinedStr):
        parts = (part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
        return "".join(map(str, parts))
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


@cache
def asked():
    """Every key, template of keys or name of a table that the package names."""
    parts = {part for node in nodes() if isinstance(node, ast.JoinedStr) for part in node.values}
    found = {template(node) for node in nodes() if node not in parts}
    return {key for key in found if key and KEY.fullmatch(key)}


def meant(key):
    """The sentences that one of those stands for, its gaps filled with words of the package."""
    if key in catalogue("en"):
        return {key}
    pattern = re.escape(key if "{}" in key else f"{key}.{{}}").replace(r"\{\}", r"(\w+)")
    matches = {name: re.fullmatch(pattern, name) for name in catalogue("en")}
    return {name for name, match in matches.items() if match and set(match.groups()) <= words()}


def test_a_sentence_is_looked_up_and_filled_in():
    text = texts("en")
    assert text("ui.reset") == "Reset"
    assert text("ui.reset_help").startswith("Back to")
    assert text("figure.comparison_value.plain", value="weights") == "difference of weights"


def test_languages_have_a_catalogue_each():
    folders = {language: PACKAGE / "texts" / language for language in LANGUAGES}
    files = [{path.name for path in folder.glob("*.toml")} for folder in folders.values()]
    assert files[0]
    assert all(names == files[0] for names in files)
    with pytest.raises(ValueError) as caught:
        texts("fr")
    assert str(caught.value) == "unknown language 'fr'; use one of: en, zh."


def test_catalogues_have_the_same_sentences_with_the_same_fields():
    shapes = [
        {key: fields(sentence) for key, sentence in catalogue(language).items()}
        for language in LANGUAGES
    ]
    assert all(shape == shapes[0] for shape in shapes)


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_sentence_stands_in_two_files(language):
    parts = (PACKAGE / "texts" / language).glob("*.toml")
    counts = [len(re.findall(r"(?m)^\w+ = ", part.read_text(encoding="utf-8"))) for part in parts]
    assert sum(counts) == len(catalogue(language))


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_sentence_is_empty(language):
    for key, sentence in catalogue(language).items():
        assert sentence, key
        assert sentence == sentence.strip(), key
        assert "  " not in sentence, key


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_page_asks_one_question(language):
    for page in PICTURES:
        question = texts(language)(f"pages.{page}.question")
        assert re.findall("[.!?。\uff01\uff1f]", question) == [question[-1]]
        assert question[-1] in "?\uff1f"


@pytest.mark.parametrize("language", LANGUAGES)
def test_numbers_are_written_alike(language):
    """Thousands have a comma, powers of ten are raised, a percent sign stays with its number."""
    unlike = r"\d %|} %|\de[+-]?\d|\d \d{3}\b|(?<![\d.:§])(?!19\d\d|20[012]\d)\d{4,}"
    sentences = {key: re.sub(r"\(https?:.*?\)", "", w) for key, w in catalogue(language).items()}
    found = {key: re.findall(unlike, words) for key, words in sentences.items()}
    assert {key: numbers for key, numbers in found.items() if numbers} == {}


def test_chinese_is_chinese():
    """What has no Chinese character is a formula or a word that both languages use."""
    english = catalogue("en")
    for key, sentence in catalogue("zh").items():
        words = re.sub(r"\{\w+\}", "", sentence)
        common = not words.strip("γB ，；：。（）") or (sentence == english[key] and len(words) < 8)
        common |= sentence == english[key] in {row.label for row in REGISTRY.values()}
        assert HAN.search(sentence) or common, key
    quoted = "learn.translation."  # a sentence in both languages
    han = [key for key, sentence in english.items() if HAN.search(sentence)]
    assert all(key.startswith(quoted) for key in han)


def test_a_term_has_one_chinese_word_on_all_pages():
    avoided = r"缩放基数|维度对|“对比”"
    assert not [key for key, words in catalogue("zh").items() if re.search(avoided, words)]


def test_families_and_symbols_are_those_of_the_registry():
    text = texts("en")
    assert {text(f"families.{name}"): name for name in REGISTRY} == {
        row.label: name for name, row in REGISTRY.items()
    }
    assert [text(f"symbols.{name}") for name in PARAMETERS] == [
        row.symbol for row in PARAMETERS.values()
    ]


def test_no_space_stands_between_chinese_characters():
    text = texts("zh")
    same = text("neighbours.same", label=text("families.decay"))
    assert same == "两侧都是参数相同的仅衰减，因此没有差别：请在任一侧另选一种。"
    wide = text("long.wide", used="4 个词元", asked="8 个词元", head_dim=64)
    assert "下面的分辨率仍按 8 个词元计算。" in wide
    assert text("neighbours.same", label="XPos").startswith("两侧都是参数相同的 XPos，")


def test_every_sentence_that_is_asked_for_exists():
    assert len(asked()) > 50
    assert {key for key in asked() if not meant(key)} == set()


def test_every_sentence_is_asked_for():
    used = set().union(*map(meant, asked()))
    assert catalogue("en").keys() - used == set()


def test_sentences_are_filled_in_with_what_they_ask_for():
    """Wherever `text("some.key", …)` stands with a whole key."""
    calls = [
        node
        for node in nodes()
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "text"
    ]
    whole = [call for call in calls if template(call.args[0]) in catalogue("en")]
    assert len(whole) > 30
    for call in whole:
        key = template(call.args[0])
        assert key
        given = {keyword.arg for keyword in call.keywords}
        wanted = fields(catalogue("en")[key])
        assert given - {None} <= wanted if None in given else given == wanted, key  # None is **
