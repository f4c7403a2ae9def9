"""Hostile addresses: each gives a notice and safe values."""

import pytest

from tests.apptest import SHORT, address, control
from tests.compare_page import (
    changed,
    opened,
    release,
    sent,
)
from xpos_viz.state import opening
from xpos_viz.texts import LANGUAGES

pytestmark = pytest.mark.usefixtures("steady")


def notice_en(key, value, used, reason="", _=""):
    """What is said of a refused setting."""
    if used is None:
        return f"The address has a setting `{key}` that does not exist here; it is ignored."
    instead = f"; `{used}` is used instead." if used else " and is left out."
    return f"`{key} = {value}` cannot be used{instead}{reason and ' '}{reason}"


def notice_zh(key, value, used, _="", reason=""):
    """The same in Chinese."""
    if used is None:
        return f"地址中的设置 `{key}` 在这里不存在，已忽略。"
    instead = f"；改用 `{used}`。" if used else "，已忽略。"
    return f"`{key} = {value}` 无法使用{instead}{reason}"


POSITIVE = "It must be a number (>\u00a00).", "须为数字（>\u00a00）。"
NOTICES = {"en": notice_en, "zh": notice_zh}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("hostile", "refused"),
    [
        ({"gamma": "nan"}, ("gamma", "nan", "0.4", *POSITIVE)),
        ({"scale_base": "1e309"}, ("scale_base", "1e309", "8", *POSITIVE)),
        ({"head": "-1"}, ("head", "-1", "2", "Use `0` to `8`.", "可用 `0` 到 `8`。")),
        (
            {"rho": "2.5"},
            (
                *("rho", "2.5", "50"),
                "It must be a whole number (≥\u00a0−100, ≤\u00a0100).",
                "须为整数（≥\u00a0−100，≤\u00a0100）。",
            ),
        ),
        (
            {"gamma": "0.4,0.5"},
            (
                *("gamma", "0.4,0.5", "0.4"),
                "The reason: `this page shows one head, got 2; use one number.`",
                "原因（英文）：`this page shows one head, got 2; use one number.`",
            ),
        ),
        ({"stage": "<script>alert(1)</script>"}, ("stage", "…", "scores")),
        ({"layer": "![x](http://example.org)"}, ("layer", "…", "8")),
        ({"base": ""}, ("base", "…", "100000")),
        ({"lang": "fr"}, ("lang", "fr", "", "Use one of: `en, zh`.")),
        ({"stop": "9" * 5000}, ("stop", "…", "")),
        ({"<b>x</b>": "1"}, ("…", "1", None)),
        ({"base.3": "500"}, ("base.3", "500", None)),
        *(
            (
                {"mask": mask},
                (
                    "mask",
                    mask,
                    "causal",
                    "Use one of: `causal, none`.",
                    "可用的值：`causal, none`。",
                ),
            )
            for mask in ("sliding:4", "round")
        ),
        *(
            (
                {key: "28" + "0" * 9},
                (
                    *(key, "28" + "0" * 9, used),
                    "It must be a whole number (≥\u00a00, ≤\u00a027).",
                    "须为整数（≥\u00a00，≤\u00a027）。",
                ),
            )
            for key, used in (("query", "27"), ("key", "0"))
        ),
        (
            {"axis": "symlog"},
            (
                *("axis", "symlog", "linear"),
                "Use one of: `linear, log`.",
                "可用的值：`linear, log`。",
            ),
        ),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_hostile_address_gives_a_notice_and_safe_values(hostile, refused, language):
    page = opened(SHORT | {"lang": language} | hostile)
    language = "en" if "lang" in hostile else language
    (notice,) = [warning.value for warning in page.warning]
    assert notice == NOTICES[language](*refused)
    assert "<" not in notice
    assert changed(SHORT | {"lang": language}, page) == set()


@pytest.mark.parametrize("value", ["2049", "9" * 40])
def test_a_length_beyond_the_cap_is_not_allocated(value):
    page = opened({"source": "random", "length": value})
    assert len(page.warning) == 1
    assert control(page, "length").value == opening("random").inputs.tokens


def test_the_last_of_a_repeated_setting_counts():
    page = opened(SHORT | {"gamma": ["nan", "0.5"]})
    assert sent(page)["encodings"][1]["parameters"]["gamma"] == 0.5


def test_a_notice_leaves_when_something_is_changed():
    page = opened(SHORT | {"gamma": "nan", "what": "1"})
    assert len(page.warning) == 2
    page = release(page, stage="weights")
    assert not page.warning
    assert address(page) == SHORT | {"stage": "weights"}
