"""The algorithms of the lecture notes and papers, transcribed line by line into plain Python."""

import numpy as np


def perceptron(X, y, passes=1, eta=1.0, bias=True, w=None, b=0.0):
    """F, algorithms 1 and 2: weights, intercept and the number of mistakes."""
    w = np.zeros(X.shape[1]) if w is None else np.array(w, dtype=float)
    mistakes = 0
    for _ in range(passes):
        for x, t in zip(X, y, strict=True):
            if t * (w @ x + b) <= 0:
                w = w + eta * t * x
                b = b + eta * t * bias
                mistakes += 1
    return w, b, mistakes


def averaged_perceptron(X, y, passes=1):
    """F, algorithm 3, returning the averages."""
    n = len(X) * passes
    w, mean, b, mean_b, c = np.zeros(X.shape[1]), np.zeros(X.shape[1]), 0.0, 0.0, 1.0
    for _ in range(passes):
        for x, t in zip(X, y, strict=True):
            if t * (w @ x + b) <= 0:
                w, b = w + t * x, b + t
                mean, mean_b = mean + c * t * x, mean_b + c * t
            c -= 1 / n
    return mean, mean_b


def batch_perceptron(X, y, passes, eta=1.0):
    """B 4.1, equation 8 with its sign put right."""
    w, b = np.zeros(X.shape[1]), 0.0
    for _ in range(passes):
        wrong = y * (X @ w + b) <= 0
        w, b = w + eta * y[wrong] @ X[wrong], b + eta * y[wrong].sum()
    return w, b


def multinomial_perceptron(X, codes, n_classes, passes=1):
    """The K-way argmax perceptron; a tie is a mistake."""
    W, B = np.zeros((n_classes, X.shape[1])), np.zeros(n_classes)
    for _ in range(passes):
        for x, own in zip(X, codes, strict=True):
            score = W @ x + B
            others = [c for c in range(n_classes) if c != own]
            rival = others[int(np.argmax(score[others]))]
            if score[own] <= score[rival]:
                W[own] += x
                B[own] += 1
                W[rival] -= x
                B[rival] -= 1
    return W, B


def passive_aggressive(X, y, C, second=False, passes=1, average=False):
    """F, algorithm 4, with C = 1/λ and without a bias; PA-II if `second`."""
    w, trail = np.zeros(X.shape[1]), []
    for _ in range(passes):
        for x, t in zip(X, y, strict=True):
            loss = max(0.0, 1 - t * (w @ x))
            w = w + (loss / (x @ x + 1 / (2 * C)) if second else min(loss / (x @ x), C)) * t * x
            trail.append(w)
    return np.mean(trail, axis=0) if average else w


def passive_aggressive_regression(X, y, C, epsilon, second=False):
    """Crammer and others (2006), section 5."""
    w = np.zeros(X.shape[1])
    for x, t in zip(X, y, strict=True):
        loss = max(0.0, abs(t - w @ x) - epsilon)
        w = w + np.sign(t - w @ x) * (loss / (x @ x + 1 / (2 * C)) if second else min(loss / (x @ x), C)) * x
    return w


def pegasos(X, y, strength, passes=1, batch=1, inverse=False, project=False, average=False):
    """F, algorithm 5, with η = 1/(λt), or 1/t if `inverse`; in the mean, step t weighs t."""
    w, t, trail = np.zeros(X.shape[1]), 0, []
    for _ in range(passes):
        for start in range(0, len(X), batch):
            t += 1
            x, label = X[start : start + batch], y[start : start + batch]
            eta = 1 / t if inverse else 1 / (strength * t)
            active = label * (x @ w) <= 1
            w = max(0.0, 1 - eta * strength) * w + eta / len(x) * (label[active] @ x[active])
            if project and np.linalg.norm(w) > 1 / np.sqrt(strength):
                w = w / np.linalg.norm(w) / np.sqrt(strength)
            trail.append(w)
    return np.average(trail, axis=0, weights=np.arange(1, t + 1)) if average else w


def gradient(X, y, slope, rate, strength=0.0, passes=1, batch=1, average=False):
    """F, algorithms 6 and 7, for any slope and schedule, with an intercept and mini-batches."""
    w, b, t, trail = np.zeros(X.shape[1]), 0.0, 0, []
    for _ in range(passes):
        for start in range(0, len(X), batch):
            t += 1
            x = X[start : start + batch]
            g = slope(y[start : start + batch], x @ w + b)
            w = (1 - rate(t) * strength) * w - rate(t) * g @ x / len(x)
            b = b - rate(t) * g.mean()
            trail.append(np.append(w, b))
    final = np.mean(trail, axis=0) if average else trail[-1]
    return final[:-1], final[-1]
