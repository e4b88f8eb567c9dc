"""Pictures look as they did: each is compared with a stored one, without words, so that fonts do not matter.

`python -m tests.plot.test_pictures` draws the stored ones again, after a change that was meant; look at them then.
"""

from io import BytesIO
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.legend import Legend
from matplotlib.text import Text

from hiperplano import ReplayDisplay
from tests.plot.samples import PANELS, two_groups

STORED = Path(__file__).parent / "pictures"
# Of differences between pixels, from 0 to 1. Another rasteriser moves edges by less; a shifted line moves far more.
TOLERANCE = 0.02


def drawn(make):
    """The picture as pixels of shape (high, wide, 3), in a fixed style and layout."""
    count = PANELS[make]
    with mpl.rc_context(mpl.rcParamsDefault | {"backend": "agg"}):
        figure = Figure(figsize=(1.6 * count, 1.4), dpi=60)
        panels = figure.subplots(1, count, squeeze=False).ravel()
        figure.subplots_adjust(left=0.04, right=0.96, bottom=0.04, top=0.96, wspace=0.1)
        make(panels[0] if count == 1 else panels)
        for words in [*figure.findobj(Text), *figure.findobj(Legend)]:
            words.set_visible(False)
        for panel in panels:
            panel.tick_params(labelbottom=False, labelleft=False)
            panel.tick_params(which="minor", length=0)
        memory = BytesIO()
        figure.savefig(memory, format="png", metadata={"Software": None})
    return memory.getvalue()


def pixels(picture):
    return imread(picture if isinstance(picture, Path) else BytesIO(picture), format="png")[:, :, :3]


def difference(one, other):
    if one.shape != other.shape:
        return np.inf
    return float(np.sqrt(np.mean(np.square(one.astype(float) - other))))


def name_of(make):
    return make.__name__


@pytest.mark.parametrize("make", PANELS, ids=name_of)
def test_it_looks_as_stored(make):
    stored = STORED / f"{make.__name__}.png"
    assert difference(pixels(drawn(make)), pixels(stored)) <= TOLERANCE


def test_stored_pictures_are_small_and_all_are_compared():
    assert {path.stem for path in STORED.glob("*.png")} == {make.__name__ for make in PANELS}
    assert max(path.stat().st_size for path in STORED.glob("*.png")) < 12_000


def test_the_comparison_tells_a_moved_line_from_the_stored_one():
    """Or no picture test would mean anything: a plane turned by a few degrees is another picture."""
    from hiperplano import HardMarginSVC, MarginDisplay

    def turned(ax):
        X, y = two_groups()
        model = HardMarginSVC().fit(X, y)
        model.coef_ = model.coef_ + np.array([[0.0, 0.3]])
        return MarginDisplay.from_estimator(model, X, y, ax=ax)

    PANELS[turned] = 1
    try:
        assert difference(pixels(drawn(turned)), pixels(STORED / "margin.png")) > 2 * TOLERANCE
    finally:
        del PANELS[turned]


def test_an_animation_shows_every_step(tmp_path):
    from PIL import Image

    from hiperplano import Perceptron

    X, y = two_groups(2.0)
    display = ReplayDisplay.from_estimator(Perceptron(tol=None, shuffle=False), X + 2.0, y)
    display.animate(interval=100).save(tmp_path / "steps.gif", writer="pillow", dpi=30)
    with Image.open(tmp_path / "steps.gif") as film:
        assert film.n_frames == len(display.steps) > 2


@pytest.mark.parametrize("make", PANELS, ids=lambda make: make.__name__)
def test_a_legend_lies_inside_the_picture(make):
    with mpl.rc_context(mpl.rcParamsDefault | {"backend": "agg"}):
        figure = make(None).figure_
        figure.draw_without_rendering()
        for legend in figure.findobj(Legend):
            box = legend.get_window_extent()
            assert box.x0 >= 0
            assert box.x1 <= figure.bbox.x1
        plt.close(figure)


if __name__ == "__main__":
    for each in PANELS:
        (STORED / f"{each.__name__}.png").write_bytes(drawn(each))
