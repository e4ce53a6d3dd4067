"""The time by which a person has to act for a cluster."""

from enum import StrEnum


class When(StrEnum):
    """The time by which a person has to act. Answers use the value."""

    NOW = "now"
    """A disk is missing, or a broker will not start again."""
    RESTART = "before a restart"
    """A broker that restarts loses records, or partitions."""
    SOON = "soon"
    """Something is wrong, and a restart loses nothing."""
    UNKNOWN = "not known"
    """The run does not show what a restart loses."""
    NOTHING = "nothing"
