"""The cases in fixtures/cases."""
