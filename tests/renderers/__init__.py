"""How a report leaves."""
