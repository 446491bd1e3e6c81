"""Normalised adaptive gradient descent (Ross, Mineiro and Langford, UAI 2013) as SC'15 uses it, in plain Python."""

from __future__ import annotations

import math
from collections.abc import Callable


class Descent:
    """A weighted sum that learns; for each input the weight, the largest size seen and the sum of squared gradients."""

    def __init__(self, step: float, penalty: float) -> None:
        self.step = step
        self.penalty = penalty
        self.weights: list[float] = []
        self.sizes: list[float] = []
        self.gradients: list[float] = []
        self.norm = 1e-9
        self.count = 1.0

    def value(self, x: list[float]) -> float:
        """Return the weighted sum, added up from left to right; 0 before anything is learned."""
        total = 0.0
        for w, x_i in zip(self.weights or [0.0] * len(x), x, strict=True):
            total += w * x_i
        return total

    def learn(self, x: list[float], slope: Callable[[float], float]) -> None:
        """Take a step against the gradient of a loss, whose slope at a value of the weighted sum is given."""
        if not self.weights:
            self.weights, self.sizes, self.gradients = [0.0] * len(x), [1e-9] * len(x), [1e-9] * len(x)
        for i, x_i in enumerate(x):
            if abs(x_i) > self.sizes[i]:
                self.weights[i] *= self.sizes[i] / abs(x_i)
                self.sizes[i] = abs(x_i)
        norm = 0.0
        for x_i, size in zip(x, self.sizes, strict=True):
            norm += (x_i / size) * (x_i / size)
        self.norm += norm
        steepness = slope(self.value(x))
        rate = self.norm / self.count
        for i, x_i in enumerate(x):
            gradient = steepness * x_i + self.penalty * self.weights[i]
            self.gradients[i] += gradient * gradient
            self.weights[i] -= self.step * gradient / (self.sizes[i] * math.sqrt(rate * self.gradients[i]))
        self.count += 2
