"""Frozen values, shared by everything above; standard library only."""
