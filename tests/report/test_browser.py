"""Pages in a real Chromium: no error, no network, a slider that works, nothing that overflows, paper, no injection."""

from __future__ import annotations

import re
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from hiperplano import LinearDiscriminantAnalysis, LinearRegression, LogisticRegression, load_credit_line, write_report
from tests.report.pages import COSTS, credit_model

EVIL = '"><img src=x onerror=alert(1)><script>alert(2)</script></script></title></style><b id=injected>&amp;'


@pytest.fixture(scope="module")
def loans():
    return credit_model()


@pytest.fixture(scope="module")
def scores(loans):
    """Of the validation rows: which are positive, and their probabilities."""
    model, _, (X, y) = loans
    return (y == "default").to_numpy(), model.predict_proba(X)[:, 0]


@pytest.fixture(scope="module")
def pages(loans, tmp_path_factory):
    """One page of each kind."""
    folder = tmp_path_factory.mktemp("pages")
    model, training, (X, y) = loans
    told = {"Command": "hiperplano fit " + "a-very-long-name-without-a-break" * 6}
    write_report(folder / "two.html", model, X, y, training=training, positive="default", costs=COSTS, provenance=told)
    write_report(folder / "dos.html", model, X, y, training=training, positive="default", language="es")
    X, y = load_credit_line(as_frame=True, return_X_y=True)
    write_report(
        folder / "numbers.html", LinearRegression().fit(X[:300], y[:300]), X[300:], y[300:], training=(X[:300], y[:300])
    )
    X, y = load_iris(return_X_y=True, as_frame=True)
    write_report(folder / "many.html", LinearDiscriminantAnalysis().fit(X, y), X, y, training=(X, y))
    return folder


@pytest.fixture(scope="module")
def evil(tmp_path_factory):
    """A page whose every name is an attack."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({EVIL: rng.normal(size=200), "kind": rng.choice([EVIL, "plain"], 200)})
    y = np.where(X[EVIL] + rng.normal(size=200) > 0, EVIL, "plain")
    number = X[[EVIL]]
    model = LogisticRegression().fit(number, y)
    path = tmp_path_factory.mktemp("evil") / "page.html"
    return write_report(
        path, model, number, y, training=(number, y), target=EVIL, positive=EVIL, provenance={EVIL: EVIL}
    )


@contextmanager
def opened(browser, path, width=1400, dark=False):
    """A page, and what it complained of or asked the network for."""
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light")
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", lambda dialog: (wrong.append("dialog"), dialog.dismiss()))
    page.on("request", lambda asked: wrong.append(asked.url) if asked.url not in (path.as_uri(), "data:,") else None)
    try:
        page.goto(path.as_uri())
        yield page
        assert not wrong
    finally:
        page.close()


@pytest.mark.parametrize("name", ["two", "dos", "numbers", "many"])
@pytest.mark.parametrize("width", [400, 1400])
def test_no_error_no_request_and_no_overflow(browser, pages, name, width):
    with opened(browser, pages / f"{name}.html", width, dark=width == 400) as page:
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        stuck = page.evaluate(
            """[...document.querySelectorAll("main p, main table, main figure, main pre, header *, nav *")]
               .filter((node) => !node.closest(".scroll") || node.matches(".scroll"))
               .filter((node) => node.getBoundingClientRect().right > innerWidth + 1).map((node) => node.outerHTML)"""
        )
        assert not stuck


def test_words_of_pictures_stay_inside_them(browser, pages):
    with opened(browser, pages / "two.html", 400) as page:
        outside = page.evaluate(
            """[...document.querySelectorAll("svg.chart text")].filter((text) => {
                 const own = text.getBoundingClientRect(), all = text.closest("svg").getBoundingClientRect();
                 return own.left < all.left - 2 || own.right > all.right + 12;
               }).map((text) => text.textContent)"""
        )
        assert not outside


def shown(page):
    cells = page.eval_on_selector_all("#table-confusion tbody data", "cells => cells.map((cell) => Number(cell.value))")
    texts = page.eval_on_selector_all("#table-confusion tbody data", "cells => cells.map((cell) => cell.textContent)")
    assert [int(re.sub(r"\D", "", text)) for text in texts] == cells
    return cells


def counted(scores, cutoff):
    positive, above = scores[0], scores[1] > cutoff
    tp, fp = int(np.sum(above & positive)), int(np.sum(above & ~positive))
    fn, tn = int(np.sum(~above & positive)), int(np.sum(~above & ~positive))
    return [tn, fp, tn + fp, fn, tp, fn + tp]


def cutoff_of(page):
    return float(page.eval_on_selector("#cutoff-value data", "node => node.value"))


def test_the_slider_moves_the_table_by_keyboard(browser, pages, scores):
    with opened(browser, pages / "two.html") as page:
        assert cutoff_of(page) == pytest.approx(1 / 9)
        assert shown(page) == counted(scores, 1 / 9)
        page.focus("#cutoff")
        for key, times in (("ArrowRight", 30), ("PageDown", 1), ("End", 1), ("Home", 1), ("ArrowLeft", 3)):
            for _ in range(times):
                page.keyboard.press(key)
            assert shown(page) == counted(scores, cutoff_of(page))
        assert page.get_attribute("#cutoff", "aria-valuetext")
        accuracy = float(page.eval_on_selector("#rate-accuracy data", "node => node.value"))
        tn, _, _, _, tp, _ = shown(page)
        assert accuracy == pytest.approx((tn + tp) / 400)


def test_costs_move_the_cheapest_cutoff(browser, pages, scores):
    with opened(browser, pages / "two.html") as page:
        cutoffs = page.evaluate("JSON.parse(document.getElementById('cutoff-data').textContent).cutoffs")
        for wrong_positive, wrong_negative in ((1, 8), (1, 1), (10, 2.5)):
            page.fill("#cost-fp", str(wrong_positive))
            page.fill("#cost-fn", str(wrong_negative))
            costs = [
                wrong_positive * counts[1] + wrong_negative * counts[3]
                for counts in (counted(scores, cutoff) for cutoff in cutoffs)
            ]
            best = int(np.argmin(costs))
            assert float(page.inner_text("#best-cutoff")) == pytest.approx(cutoffs[best], rel=1e-4)
            assert float(page.inner_text("#best-cost").replace("\u202f", "")) == pytest.approx(min(costs), rel=1e-4)
            page.click("#take-best")
            assert shown(page) == counted(scores, cutoffs[best])
            assert float(page.eval_on_selector("#rate-total data", "node => node.value")) == pytest.approx(min(costs))


def contrast(first, second):
    def light(colour):
        parts = np.array(re.findall(r"[\d.]+", colour)[:3], dtype=float) / 255
        return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]

    high, low = sorted((light(first), light(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


COLOURS = """() => {
  const behind = (node) => {
    for (; node; node = node.parentElement) {
      const paint = getComputedStyle(node).backgroundColor;
      if (!/, 0\\)$|transparent/.test(paint)) return paint;
    }
    return "rgb(255, 255, 255)";
  };
  const words = "p, th, td, dt, dd, caption, figcaption, a, button, label, h1, h2, h3, output, pre";
  const all = document.querySelectorAll(words);
  return [...all].filter((node) => node.offsetParent && !node.matches(".skip"))
    .map((node) => [node.tagName, getComputedStyle(node).color, behind(node)]);
}"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_words_have_contrast_in_both_colours(browser, pages, dark):
    with opened(browser, pages / "two.html", dark=dark) as page:
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (contrast(paper, "rgb(0, 0, 0)") < 3) == dark
        poor = {(tag, *pair) for tag, *pair in page.evaluate(COLOURS) if contrast(*pair) < 4.5}
        assert not poor
        ink = page.evaluate("getComputedStyle(document.querySelector('svg.chart .axes text')).fill")
        assert contrast(ink, paper) >= 4.5
        page.click("#theme")
        assert (contrast(page.evaluate("getComputedStyle(document.body).backgroundColor"), "rgb(0, 0, 0)") < 3) != dark
        assert page.inner_text("#theme") == f"Switch to {'dark' if dark else 'light'} mode"  # what it would do


@pytest.mark.parametrize("name", ["two", "numbers", "many"])
def test_paper(browser, pages, name):
    with opened(browser, pages / f"{name}.html", dark=True) as page:
        printed = page.pdf(format="A4")
        assert len(re.findall(rb"/Type\s*/Page\b", printed)) > 1
        page.emulate_media(media="print")
        assert (
            page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--paper').trim()") == "#ffffff"
        )
        assert not page.is_visible("nav")
        assert page.locator(".controls:visible").count() == 0
        assert page.locator("section h2:visible").count() == 8
        heights = page.evaluate("[...document.querySelectorAll('details')].map((node) => node.scrollHeight)")
        assert all(height > 60 for height in heights), "what is folded is printed"
        page.set_viewport_size({"width": 690, "height": 900})  # A4 inside its margins, in pixels of CSS
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_keyboard_reaches_what_can_be_done(browser, pages):
    with opened(browser, pages / "two.html") as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        assert page.evaluate("document.activeElement.getBoundingClientRect().top >= 0")
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "content"
        reached = []
        for _ in range(40):
            page.keyboard.press("Tab")
            reached.append(page.evaluate("document.activeElement.id"))
            if reached[-1] == "take-best":
                break
            assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        assert [each for each in reached if each] == ["cutoff", "cost-fp", "cost-fn", "take-best"]


def test_names_cannot_bring_code_in(browser, evil):
    with opened(browser, evil) as page:
        page.wait_for_timeout(200)
        assert page.locator("#injected").count() == 0
        assert page.locator("img").count() == 0
        assert page.locator("script").count() == 2
        assert EVIL in page.inner_text("h1")
        assert page.title() == " ".join(f"Logistic regression · {EVIL}".split())
        page.focus("#cutoff")
        page.keyboard.press("ArrowRight")
        assert EVIL in page.inner_text("#table-confusion")
