"""Histories that kcheck ships, as `kcheck simulate --list` names them."""
