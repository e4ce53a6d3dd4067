"""What a start makes of the files of one broker, and what kcheck predicts."""
