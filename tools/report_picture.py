"""Take the picture of a report that the README shows: `uv run python -m tools.report_picture`.

The page is about the generated credit table; the Chromium on PATH draws its top and its validation, side by side.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from hiperplano import LogisticRegression, load_credit_default, write_report

PICTURE = Path(__file__).parent.parent / "docs" / "images" / "report.png"
_SIZE = {"width": 1150, "height": 1150}
_COLOURS = 256  # of the palette: a page has few, and the file stays small


def page(folder: Path) -> Path:
    """The report of a logistic regression on the credit table."""
    X, y = load_credit_default(return_X_y=True)
    X = X.drop(columns=["client_id", "application_date"])
    kinds = [X[name].dtype.kind in "fiu" for name in X]
    numbers, categories = (list(X.columns[np.array(kinds) == kind]) for kind in (True, False))
    coder = make_column_transformer(
        (SimpleImputer(strategy="median"), numbers),
        (OneHotEncoder(drop="first", handle_unknown="ignore", sparse_output=False), categories),
        verbose_feature_names_out=False,
    )
    rows, others, target, truth = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    model = make_pipeline(coder, LogisticRegression(C=np.inf)).fit(rows, target)
    return write_report(folder / "report.html", model, others, truth, training=(rows, target))


def _side_by_side(pictures: list[Image.Image], gap: int = 24) -> Image.Image:
    width, height = pictures[0].size
    both = Image.new("RGB", (2 * width + gap, height), "#d0d5dc")
    for k, picture in enumerate(pictures):
        both.paste(picture.convert("RGB"), (k * (width + gap), 0))
    return both.resize((1600, round(1600 * height / both.width)), Image.Resampling.LANCZOS)


def main() -> None:
    """Write the picture."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        sys.exit("No chromium, chromium-browser or google-chrome on PATH. Install one: apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        written = page(Path(folder))
        running = driver.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
        tab = running.new_page(viewport=_SIZE, color_scheme="light")
        tab.goto(written.as_uri())
        taken = [Image.open(BytesIO(tab.screenshot()))]
        tab.evaluate("document.documentElement.style.scrollBehavior = 'auto'")
        tab.evaluate("document.getElementById('validation').scrollIntoView()")
        taken.append(Image.open(BytesIO(tab.screenshot())))
        running.close()
        PICTURE.parent.mkdir(exist_ok=True)
        _side_by_side(taken).quantize(_COLOURS, method=Image.Quantize.FASTOCTREE).save(PICTURE, optimize=True)
    print(f"{PICTURE.name}: {PICTURE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
