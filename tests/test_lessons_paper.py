"""The lessons on paper: as the command line writes them, in a browser without network."""

import re

import pytest

from tests.cli.command import call
from tests.pages import offline
from xpos_viz.figures.lessons import coloured
from xpos_viz.lessons import CHAPTERS, OPTIONS, STEPS
from xpos_viz.texts import LANGUAGES, TAGS, texts

NUMBERED = {
    step.name: f"{number}.{place}"
    for number, chapter in enumerate(CHAPTERS, 1)
    for place, step in enumerate(chapter.steps, 1)
}
each_language = pytest.mark.parametrize("language", LANGUAGES)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Files of the command line, by language and by whether a teacher's."""
    folder, files = tmp_path_factory.mktemp("paper"), {}

    def written(language, teacher):
        path = folder / f"{language}-{teacher}.html"
        if path not in files:
            words = ("learn", "--lang", language, "--teacher", teacher, "--out", path)
            files[path] = call("export", *words)
            assert files[path][2] == 0, files[path][1]
            assert files[path][1] == f"Wrote {path}: {path.stat().st_size:,} bytes.\n"
        return path

    return written


@pytest.fixture
def visit(browser, written):
    """Open one of them, without network and without scripts."""
    with offline(browser) as opened:
        yield lambda language, teacher="no": opened(
            written(language, teacher), java_script_enabled=False
        )


def lines(locator):
    """What is read of each, without the marks of a text."""
    return [" ".join(words.split()) for words in locator.all_inner_texts()]


def plain(words):
    """A text as it is read: without the marks of emphasis."""
    return " ".join(words.replace("*", "").split())


def asked(text):
    """Number and title of each step."""
    return [f"{place} {text(f'learn.{name}.title')}" for name, place in NUMBERED.items()]


def answers(text):
    """The right answer of each step, and why."""
    for step in STEPS.values():
        right, because = (
            plain(text(f"learn.{step.name}.{key}")) for key in (step.right, "because")
        )
        yield f"({step.right}) {right} {because}"


@each_language
def test_every_chapter_and_step_is_on_paper(visit, language):
    page, text = visit(language), texts(language)
    assert page.locator("html").get_attribute("lang") == TAGS[language]
    assert lines(page.locator("h1")) == [text("pages.learn.title")]
    headings = [f"{n}. {text(f'learn.{c.name}.title')}" for n, c in enumerate(CHAPTERS, 1)]
    assert lines(page.locator("h2")) == [*headings, text("learn.answers")]
    assert lines(page.locator("h3")) == asked(text)
    said = " ".join(page.locator("body").inner_text().split())
    for chapter in CHAPTERS:
        assert plain(text(f"learn.{chapter.name}.words")) in said
    for step in STEPS.values():
        for key in ("question", "symbols"):
            assert plain(text(f"learn.{step.name}.{key}")) in said
    options = [plain(text(f"learn.{name}.{option}")) for name in STEPS for option in OPTIONS]
    assert lines(page.locator("ol > li")) == options


@each_language
def test_every_step_has_its_picture_formula_and_code(visit, language):
    page = visit(language)
    sections = page.locator("section")
    assert sections.count() == len(STEPS)
    assert page.locator("section > img").count() == len(STEPS)
    for picture in page.locator("section > img").all():
        assert picture.evaluate("(image) => image.complete && image.naturalWidth > 0")
        assert picture.get_attribute("alt")
    for section, step in zip(sections.all(), STEPS.values(), strict=True):
        assert section.locator("> math").count() == 1
        assert step.code in str(section.locator("pre").text_content())
        colours = set(re.findall("#[0-9a-f]{6}", coloured(step.formula, "light")))
        mathml = section.locator("> math").inner_html()
        assert colours == set(re.findall("#[0-9a-f]{6}", mathml))


@each_language
def test_answers_of_students_are_at_the_end(visit, language):
    page, text = visit(language), texts(language)
    assert lines(page.locator(".answers ~ dl > dt")) == asked(text)
    assert lines(page.locator(".answers ~ dl > dd")) == list(answers(text))
    assert page.locator("aside").count() == 0
    before = page.locator("section").all_inner_texts()
    for step, words in zip(STEPS.values(), before, strict=True):
        assert plain(text(f"learn.{step.name}.because")) not in " ".join(words.split())


@each_language
def test_answers_and_notes_of_teachers_are_beside_the_questions(visit, language):
    page, text = visit(language, "yes"), texts(language)
    assert page.locator(".answers").count() == 0
    notes = [plain(text(f"learn.{name}.note")) for name in STEPS]
    expected = [
        f"{text('learn.answer')}: {answer} {note}"
        for answer, note in zip(answers(text), notes, strict=True)
    ]
    assert lines(page.locator("section > aside")) == expected


@each_language
def test_the_file_needs_no_network_and_no_scripts(written, language):
    for teacher in ("no", "yes"):
        content = written(language, teacher).read_text(encoding="utf-8")
        assert set(re.findall("<script[^>]*>", content)) == {
            '<script type="application/json" id="xpos_viz">'
        }
        assert not re.search(r"(?:src|href)=\"(?!data:)|@import|url\((?!data:)", content)
        assert "default-src 'none'" in content


@each_language
def test_print_is_black_on_white_and_keeps_together_what_belongs_together(visit, language):
    page = visit(language)
    page.emulate_media(media="print", color_scheme="dark")
    style = "(element, name) => getComputedStyle(element)[name]"
    body = page.locator("body")
    assert body.evaluate(style, "color") == "rgb(0, 0, 0)"
    assert body.evaluate(style, "backgroundColor") == "rgba(0, 0, 0, 0)"
    for heading in ("h2", "h3", "dt"):
        assert page.locator(heading).first.evaluate(style, "breakAfter") == "avoid"
    for whole in ("section", "img", "math", "pre", "dd"):
        assert page.locator(whole).first.evaluate(style, "breakInside") == "avoid"
    assert page.locator(".answers").evaluate(style, "breakBefore") == "page"


@each_language
def test_nothing_is_cut_off_on_paper(visit, language):
    page = visit(language)
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 680, "height": 1000})  # A4 within its margins
    cut = page.locator("math, pre, p, li, body").evaluate_all(
        "(all) => all.filter((one) => one.scrollWidth > one.clientWidth && one.clientWidth)"
        ".map((one) => one.textContent)"
    )
    assert cut == []
    assert page.pdf(format="A4").startswith(b"%PDF")
