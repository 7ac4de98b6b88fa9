import NearbyCore

/// So long after the beginning of a test's time.
func milliseconds(_ count: Int64) -> Instant { .zero + .milliseconds(count) }
