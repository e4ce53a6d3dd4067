"""The next start of a broker simulated on its files: LogManager, LogLoader and what they call. Nothing is written."""
