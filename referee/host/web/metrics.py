"""Figures of a site for Prometheus: a registry of its own, so that two sites in one process do not mix."""

from collections.abc import Callable, Iterable, Mapping

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

Figures = Mapping[str, tuple[str, Mapping[str, float]]]
"""Figures as they are now: by name, what each is, and its values, by the state that they are of; one that has none is of ""."""


class SiteMetrics:
    """Requests by route, and how the host stands when it is asked, as ``figures`` says."""

    def __init__(self, figures: Callable[[], Figures]) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "referee_requests", "Requests answered.", ["route", "method", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "referee_request_seconds",
            "Seconds until a request was answered.",
            ["route"],
            buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 300),
            registry=self.registry,
        )
        self.registry.register(_FiguresNow(figures))

    def text(self) -> bytes:
        """All figures in the format of Prometheus."""
        return generate_latest(self.registry)


class _FiguresNow(Collector):
    """What is counted anew each time."""

    def __init__(self, figures: Callable[[], Figures]) -> None:
        self._figures = figures

    def describe(self) -> Iterable[Metric]:
        """Nothing: nothing is counted before somebody asks."""
        return ()

    def collect(self) -> Iterable[Metric]:
        """The figures as they are now."""
        for name, (what, values) in self._figures().items():
            family = GaugeMetricFamily(name, what, labels=["state"] if set(values) != {""} else [])
            for state, value in values.items():
                family.add_metric([state] if state else [], value)
            yield family
