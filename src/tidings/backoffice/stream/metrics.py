"""What streams of devices count."""

from tidings.kernel.metrics import API, Metrics, begin_at_zero


class StreamMetrics:
    """Their metrics in the registry of the process."""

    def __init__(self, metrics: Metrics) -> None:
        self.streams = metrics.gauge(
            "tidings_device_streams", "Streams of operators' devices that are open in this process.", by=API
        )
        self.refused = metrics.counter(
            "tidings_device_streams_refused_total",
            "Streams of devices that were not opened, by the limit that was reached: tenant or process.",
            ("limit",),
            by=API,
        )
        begin_at_zero(self.refused, "tenant", "process")
        self.events = metrics.counter(
            "tidings_device_stream_events_total", "Announcements that streams of devices were given.", by=API
        )
