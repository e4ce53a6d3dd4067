"""Disk, formats and rules put together: from paths to reports."""
