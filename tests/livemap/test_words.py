"""The words of the live map: numbers as the rest of the dashboard writes them, and lines."""

import pytest

from xpos_viz.figures import words
from xpos_viz.livemap import source

pytestmark = pytest.mark.browser

NUMBERS = (
    *(0.0, 1.0, -1.0, 0.4, 512.0, -40.26, 1e5, 123_456_789.0),
    *(1e9, -1e9, 2.5e12, 1e-4, 9.9e-5, 1e-7, -1.25e-7, 1e300),
)
CHINESE = "XPos（底数 100,000，γ 0.4，B 512）与 RoPE：位置 差，分数，权重。"
WRAPPED = """([line, room]) => {
  const look = { font: "sans-serif", ink: {} };
  return parts.wrapped(document.createElement("canvas").getContext("2d"), line, room, look, 12);
}"""


@pytest.fixture(scope="module")
def call(browser):
    """A page with the functions of the modules."""
    page = browser.new_page()
    script = f"{source()}\nwindow.parts = {{ ...$text, ...$titles }};"
    page.add_script_tag(content=script, type="module")
    page.wait_for_function("window.parts")
    yield page.evaluate
    page.close()


def test_numbers_are_written_as_by_the_core(call):
    for name in ("number", "rounded"):
        written = call(f"(numbers) => numbers.map((value) => parts.{name}(value))", NUMBERS)
        assert written == [getattr(words, name)(value) for value in NUMBERS]


def test_measured_numbers_have_powers_of_ten(call):
    values = [0.1234567, -1.2e-7, 1e-7, 1_234_567.0, -1e6, 999_999.0]
    written = call("(values) => values.map((value) => parts.measured(value))", values)
    assert [word.replace("\u00a0", " ") for word in written] == [
        *("0.123457", "−1.2 × 10⁻⁷", "10⁻⁷", "1.23457 × 10⁶", "−10⁶", "999999"),
    ]


def test_lines_keep_all_words_and_begin_with_no_punctuation(call):
    wrapped = [call(WRAPPED, [CHINESE, room]) for room in range(40, 300, 20)]
    assert len(wrapped[0]) > len(wrapped[-1])
    for lines in wrapped:
        assert "".join(lines) == CHINESE
        assert not any(line.lstrip().startswith(tuple("，。：）")) for line in lines)
        assert not any(line.rstrip().endswith("（") for line in lines)
