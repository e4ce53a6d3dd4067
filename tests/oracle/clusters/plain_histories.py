"""Histories for real clusters alone: nothing goes wrong in them that a release has mended, so every release plays them.

They ask for the everyday: a restart, a crash, a lost page cache, a leader that moves, an unclean election.
"""

from collections.abc import Mapping

PLAIN: Mapping[str, str] = {
    "replication": """
        brokers A B C
        A leads
        append 3
        fetch B
        fetch C
        append 2
        fetch B x2
        fetch C
        append 1
        fetch all
        """,
    "all-crash": """
        brokers A B  # the high watermarks on disk are still 0, those of the processes were 5
        topic unclean=false
        A leads
        append 2
        append 3
        fetch all
        crash B
        fence B
        crash A
        fence A
        start A
        append 1
        start B
        fetch all
        """,
    "follower-loses-power": """
        brokers A B
        topic unclean=false
        A leads
        append 2
        fetch all
        flush B
        checkpoint B
        append 3
        fetch all
        power-loss B from 2
        fence B
        append 1
        start B
        fetch all
        """,
    "leader-loses-power": """
        brokers A B  # A is alone in sync, so it leads again, and all follow to what it has left
        topic unclean=false acks=1
        A leads
        append 2
        fetch all
        flush A
        checkpoint A
        crash B
        fence B
        append 2
        append 1
        power-loss A from 2
        fence A
        start A
        append 1
        start B
        fetch all
        """,
    "follower-restarts": """
        brokers A B
        A leads
        append 2
        fetch all
        stop B
        append 2
        start B
        fetch all
        append 1
        fetch all
        """,
    "leader-restarts": """
        brokers A B
        A leads
        append 2
        fetch all
        stop A
        append 2
        start A
        fetch all
        elect A
        append 1
        fetch all
        """,
    "leader-moves": """
        brokers A B C
        A leads
        append 2
        fetch all
        elect B
        append 1
        fetch all
        elect C
        append 1
        fetch all
        elect A
        append 1
        fetch all
        """,
    "follower-crashes": """
        brokers A B
        topic unclean=false
        A leads
        append 2
        fetch all
        checkpoint B
        crash B
        fence B
        append 2
        start B
        fetch all
        """,
    "leader-crashes": """
        brokers A B  # its last record is on no other disk
        topic unclean=false acks=1
        A leads
        append 2
        fetch all
        checkpoint A
        append 1
        crash A
        fence A
        append 1
        append 1
        start A
        fetch all
        """,
    "leaders-crash-in-turn": """
        brokers A B
        topic unclean=false acks=1
        A leads
        append 2
        fetch all
        checkpoint A
        checkpoint B
        append 1
        crash A
        fence A
        append 2
        start A
        fetch all
        checkpoint B
        append 2
        crash B
        fence B
        append 1
        start B
        fetch all
        """,
    "unclean-election": """
        brokers A B
        topic unclean=true acks=1
        A leads
        append 2
        fetch all
        checkpoint A
        checkpoint B
        crash B
        fence B
        append 3
        crash A
        fence A
        start B
        append 1
        start A
        fetch all
        """,
    "unclean-elections": """
        brokers A B C
        topic unclean=true acks=1
        A leads
        append 2
        fetch all
        checkpoint A
        checkpoint B
        checkpoint C
        crash C
        fence C
        append 2
        fetch B x2
        checkpoint B
        crash B
        fence B
        append 2
        crash A
        fence A
        start C
        append 1
        crash C
        fence C
        start B
        append 1
        start C
        start A
        fetch all
        """,
    "followers-apart": """
        brokers A B C
        topic unclean=false acks=1
        A leads
        append 1
        fetch all
        checkpoint A
        checkpoint C
        append 2
        fetch C
        append 2
        fetch C
        append 1
        crash A
        fence A
        append 1
        fetch all
        start A
        fetch all
        """,
    "epochs-without-records": """
        brokers A B
        A leads
        append 2
        fetch all
        elect B
        elect A
        elect B
        append 1
        fetch all
        """,
    "below-min-isr": """
        brokers A B
        topic min.isr=2 unclean=false
        A leads
        append 2
        fetch all
        checkpoint B
        crash B
        fence B
        append 2 acks=all
        append 1 acks=1
        start B
        fetch all
        append 1
        fetch all
        """,
    "slow-follower": """
        brokers A B
        topic unclean=false
        A leads
        append 1
        fetch all
        append 1
        shrink B
        append 1
        fetch B x2
        fetch all
        """,
    "out-of-range": """
        brokers A B  # the leader's log begins beyond the follower's end
        topic unclean=false
        A leads
        append 2
        append 2
        fetch all
        checkpoint B
        crash B
        fence B
        append 3
        trim A to 7
        start B
        fetch all
        append 1
        fetch all
        """,
    "out-of-range-in-a-batch": """
        brokers A B  # the first batch that the leader sends begins before its log start
        topic unclean=false
        A leads
        append 2
        append 2
        fetch all
        checkpoint B
        crash B
        fence B
        append 3
        trim A to 6
        start B
        fetch all
        append 1
        fetch all
        """,
    "session-ends": """
        brokers A B  # a leader that hangs is replaced, and finds out
        topic unclean=false acks=1
        A leads
        append 2
        fetch all
        append 1
        fence A
        append 1
        start A
        fetch all
        """,
}
"""Each history by its name."""
