"""Tests of `kcheck.core.tiered`."""
