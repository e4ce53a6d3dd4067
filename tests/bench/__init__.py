"""Scripts that measure, and the test that runs each of them on next to nothing."""
