"""Conditions of Kafka that can be switched off, to see whether a search finds what they are for."""

MUTANTS = {
    "M4": "a new leader takes what it knew of its followers from an earlier epoch",
    "M5": "a follower joins the ISR below the high watermark",
    "M6": "a follower joins the ISR below the start of its leader's epoch (KAFKA-7128)",
    "M7": "a follower takes an answer that does not begin at its log end",
    "M9": "the controller does not compare broker epochs when the ISR changes (KIP-903)",
    "M10": "the controller does not compare partition epochs when the ISR changes",
    "M12": "the high watermark advances below min.insync.replicas (KAFKA-15583)",
    "M14": "a follower never truncates",
    "M15": "an unclean registration leaves the eligible leader replicas as they are (KIP-966)",
}
"""By name."""
