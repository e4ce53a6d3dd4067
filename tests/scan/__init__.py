"""From paths to reports."""
