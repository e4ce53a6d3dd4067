"""Log dirs while a plan is made: as they would lie after each edit. Nothing is written."""
