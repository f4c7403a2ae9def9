"""Settings of the pages: what is legal, how it is written, and what is said of the rest."""

from dataclasses import dataclass

import pytest

from xpos_viz.state.settings import few, limit, settings, several, typed, whole, words


def even(text):
    """An even number as Python writes it."""
    if int(text) % 2:
        raise ValueError(f"{text} is odd; use {int(text) + 1}.")
    return str(int(text))


@dataclass(frozen=True)
class Page:
    """A page with a setting of each kind, and a field that is none."""

    title: str = ""
    mask: str = words(("causal", "none"))
    curves: tuple[str, ...] = several(("rope", "xpos", "alibi"), ("rope", "xpos"))
    lag: int = whole(64, 0, 1000)
    pairs: tuple[str, ...] = few(even, 3)
    passage: str = typed(8)
    most: float | None = limit(-10.0, 1e6)


SETTINGS = settings(Page)
LEFT_OUT = "leave it out where there is no limit."


def test_a_page_has_the_usual_values_and_knows_its_settings():
    assert Page() == Page("", "causal", ("rope", "xpos"), 64, (), "", None)
    assert list(SETTINGS) == ["mask", "curves", "lag", "pairs", "passage", "most"]
    assert {name: setting.usual for name, setting in SETTINGS.items()} == {
        "mask": "causal",
        "curves": ("rope", "xpos"),
        "lag": 64,
        "pairs": (),
        "passage": "",
        "most": None,
    }


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("mask", "none", "none"),
        ("curves", "alibi,rope", ("alibi", "rope")),
        ("curves", "", ()),
        ("lag", "1000", 1000),
        ("lag", "0", 0),
        ("pairs", "4,-2,0", ("4", "-2", "0")),
        ("pairs", "", ()),
        ("passage", " ,\n&=\u202e", " ,\n&=\u202e"),
        ("passage", "潮汐 x", "潮汐 x"),
        ("most", "0.02", 0.02),
        ("most", "-10", -10.0),
        ("most", "", None),
    ],
)
def test_a_setting_is_the_same_after_a_trip_through_text(name, text, value):
    assert SETTINGS[name].parse(name, text) == value
    assert SETTINGS[name].written(value) == text


def test_a_word_that_is_given_twice_counts_once():
    assert SETTINGS["curves"].parse("curves", "xpos,rope,xpos") == ("xpos", "rope")
    assert SETTINGS["pairs"].parse("pairs", "4,2,04,2,6") == ("4", "2", "6")


def test_of_a_few_the_first_that_are_legal_can_be_used():
    assert SETTINGS["pairs"].parted("2,3,4,04,6,8,5,10") == (("2", "4", "6"), "3,5,8,10")
    assert SETTINGS["pairs"].parted("3") == ((), "3")


@pytest.mark.parametrize(
    ("text", "beginning"),
    [("nine bytes", "nine byt"), ("潮汐潮", "潮汐"), ("a\0b\ud800c", "abc"), ("\0", "")],
)
def test_of_a_text_its_beginning_can_be_used(text, beginning):
    assert SETTINGS["passage"].parted(text) == (beginning, text)
    assert SETTINGS["passage"].parse("passage", beginning) == beginning


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("mask", "Causal", "unknown mask 'Causal'; use one of: causal, none."),
        ("mask", "", "unknown mask ''; use one of: causal, none."),
        ("curves", "rope,", "unknown curves ''; use one of: rope, xpos, alibi."),
        ("curves", "rope,yarn", "unknown curves 'yarn'; use one of: rope, xpos, alibi."),
        ("lag", "1001", "lag must be a whole number from 0 to 1000, got 1001; use 64."),
        ("lag", "-1", "lag must be a whole number from 0 to 1000, got -1; use 64."),
        ("lag", "1e3", "lag must be a whole number from 0 to 1000, got '1e3'; use 64."),
        ("lag", "٣", "lag must be a whole number from 0 to 1000, got '٣'; use 64."),
        ("pairs", "2,3", "3 is odd; use 4."),
        ("pairs", "2,4,6,8", "pairs must be at most 3, got 4; leave some of them out."),
        (
            "passage",
            "潮汐潮",
            "passage must be at most 8 bytes in UTF-8, got 9; use a part of it.",
        ),
        *(
            (
                "passage",
                f"a{sign}",
                f"passage must have no {sign!r}, got one; leave it out.",
            )
            for sign in ("\0", "\ud800")
        ),
        (
            *("most", "11e5"),
            f"most must be a number from -10 to 1e+06, got '11e5'; {LEFT_OUT}",
        ),
        (
            *("most", "nan"),
            f"most must be a number from -10 to 1e+06, got 'nan'; {LEFT_OUT}",
        ),
        ("lag", "9" * 99, f"lag must be a whole number from 0 to 1000, got '{'9' * 39}; use 64."),
    ],
)
def test_what_is_not_legal_is_said(name, text, message):
    with pytest.raises(ValueError) as caught:
        SETTINGS[name].parse(name, text)
    assert str(caught.value) == message


@pytest.mark.parametrize("value", [True, 3.0, None, "3", [3]])
def test_only_whole_numbers_are_numbers(value):
    with pytest.raises(ValueError, match="lag must be a whole number from 0 to 1000, got "):
        SETTINGS["lag"].check("lag", value)
