"""A fleet of brokers: log dirs by the thousand as rows of Arrow, compared, kept and counted."""
