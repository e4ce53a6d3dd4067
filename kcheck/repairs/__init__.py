"""What can be done about a finding; one module for each repair, found by its constant REPAIR."""
