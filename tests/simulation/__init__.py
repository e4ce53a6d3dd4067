"""Tests of kcheck.simulation."""
