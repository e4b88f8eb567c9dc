"""Codes of a colour: 1-of-K, with a reference, and as one number; what a linear model can say with each.

Sales depend on the colour in a way that no order of the colours follows. With all K columns and an intercept, columns
depend on each other; without the reference's column they do not, and predictions are the same.
"""

import numpy as np

from hiperplano import LinearRegression

COLOURS = ("red", "blue", "yellow")
MEANS = {"red": 10.0, "blue": 30.0, "yellow": 15.0}


def main():
    rng = np.random.default_rng(0)
    colour = rng.choice(COLOURS, 300)
    sales = np.array([MEANS[each] for each in colour]) + rng.normal(0, 2, 300)

    one_of_k = np.column_stack([colour == each for each in COLOURS]).astype(float)
    all_columns = LinearRegression().fit(one_of_k, sales)
    reference = LinearRegression().fit(one_of_k[:, 1:], sales)
    one_number = LinearRegression().fit(np.array([[COLOURS.index(each)] for each in colour], dtype=float), sales)

    print(f"columns and rank of 1-of-K: 3 and {all_columns.solution_.rank}")
    apart = np.abs(all_columns.predict(one_of_k) - reference.predict(one_of_k[:, 1:])).max()
    print(f"predictions with and without the reference's column differ by at most {apart:.0e}")
    for name, value in zip(
        ("red (reference)", "blue", "yellow"), (reference.intercept_, *reference.coef_), strict=True
    ):
        print(f"{name}: {value:.2f}")
    print(f"R² of the codes: {reference.score(one_of_k[:, 1:], sales):.3f}")
    numbers = np.array([[COLOURS.index(each)] for each in colour], dtype=float)
    print(f"R² of one number: {one_number.score(numbers, sales):.3f}")


if __name__ == "__main__":
    main()
