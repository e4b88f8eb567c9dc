"""Two half moons: the perceptron and the support vector machine, each with a kernel.

The kernel perceptron counts mistakes, and its plane depends on the order of the rows; the support vector machine has
one optimum, and proves how near it is. With a folder as argument, draws the regions of both there.
"""

import sys
from pathlib import Path

from sklearn.datasets import make_moons

from hiperplano import SVC, SVCCV, KernelPerceptron, RegionsDisplay


def main():
    X, y = make_moons(300, noise=0.2, random_state=0)
    rows, labels, new_rows, new_labels = X[:200], y[:200], X[200:], y[200:]
    for average in (False, True):
        model = KernelPerceptron(gamma=2.0, average=average, max_iter=30, tol=None).fit(rows, labels)
        made = model.solution_.mistakes_by_pass[0]
        print(
            f"kernel perceptron, average={average}: mistakes {made[0]} in the first pass, {made[-1]} in the last; "
            f"accuracy on new rows {model.score(new_rows, new_labels):.2f}"
        )
    search = SVCCV(gammas=[0.2, 2.0, 20.0], Cs=[0.1, 1.0, 10.0, 100.0]).fit(rows, labels)
    print(f"best of the grid: C={search.C_:g}, gamma={search.gamma_:g}, accuracy in folds {search.best_score_:.3f}")
    machine = SVC(C=search.C_, gamma=search.gamma_).fit(rows, labels)
    print(f"accuracy on new rows {machine.score(new_rows, new_labels):.2f}; {machine.solution_.status}")
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
        folder.mkdir(parents=True, exist_ok=True)
        for name, each in (("kernel_perceptron", model), ("svc", machine)):
            RegionsDisplay.from_estimator(each, rows, labels).figure_.savefig(folder / f"{name}.png", dpi=80)


if __name__ == "__main__":
    main()
