"""More histories for real clusters alone: what a ticket tells, with several things that go wrong.

Controlled stops, eligible leader replicas, late messages, acks of 1 and 0, reassignments.
"""

from collections.abc import Mapping

TICKETS: Mapping[str, str] = {
    "stops-in-turn": """
        brokers A B C
        topic min.isr=2 unclean=false
        A leads
        append 3
        fetch all
        stop A
        append 2
        fetch all
        stop B
        append 1
        start A
        fetch all
        append 1
        fetch all
        start B
        fetch all
        """,
    "moves-with-acks-1": """
        brokers A B C
        topic acks=1 unclean=false
        A leads
        append 2
        fetch all
        append 2
        fetch B
        elect B
        append 1
        fetch all
        elect C
        append 1
        fetch all
        """,
    "power-losses": """
        brokers A B C
        topic acks=all unclean=false min.isr=2
        A leads
        append 2
        append 2
        fetch all
        flush B
        power-loss C from 2
        fence C
        append 1
        fetch all
        power-loss A from 2
        fence A
        start A
        fetch all
        start C
        fetch all
        append 1
        fetch all
        """,
    "unclean-in-turn": """
        brokers A B
        topic acks=1 unclean=true
        A leads
        append 1
        fetch all
        append 2
        crash A
        fence A
        append 1
        append 1
        crash B
        fence B
        start A
        append 1
        start B
        fetch all
        append 1
        fetch all
        """,
    "append-while-fenced": """
        brokers A B C
        topic acks=all min.isr=2 unclean=false
        A leads
        append 2
        fetch all
        append 1
        fetch B
        fence A
        append 1
        fetch all
        start A
        fetch all
        append 1
        fetch all
        """,
    "elr-unclean-election": """
        brokers A B C
        topic min.isr=2 unclean=true mode=kraft elr=true
        A leads
        append 2
        fetch all
        stop B
        append 1
        fetch all
        crash C
        fence C
        append 1
        crash A
        fence A
        start B
        append 1
        start A
        start C
        fetch all
        """,
    "elr-power-loss": """
        brokers A B C
        topic min.isr=3 unclean=false mode=kraft elr=true
        A leads
        append 3
        fetch all
        stop C
        append 1 acks=1
        fetch B
        stop B
        power-loss A from 0
        fence A
        start B
        fetch all
        start A
        start C
        fetch all
        append 1
        fetch all
        """,
    "late-fetch": """
        brokers A B C
        topic acks=all unclean=false
        A leads
        append 1
        fetch all
        delay B->A
        append 1
        fetch C x2
        append 1
        fetch C
        deliver B->A
        fetch all
        elect B
        append 1
        fetch all
        """,
    "deposed-leader-writes": """
        brokers A B C
        topic acks=1 unclean=false
        A leads
        append 2
        fetch all
        delay controller->A
        elect B
        append 2 to A
        append 1 to B
        fetch C x2
        deliver controller->A
        fetch all
        append 1
        fetch all
        """,
    "alone-below-min-isr": """
        brokers A B C
        topic min.isr=2 unclean=false acks=all
        A leads
        append 1
        fetch all
        crash B
        fence B
        crash C
        fence C
        append 1
        append 2 acks=1
        start B
        fetch all
        append 1
        fetch all
        start C
        fetch all
        """,
    "trim-before-restart": """
        brokers A B C
        topic unclean=false
        A leads
        append 2
        append 3
        fetch all
        checkpoint B
        stop B
        append 2
        fetch all
        trim A to 5
        elect C
        append 1
        fetch all
        start B
        fetch all
        """,
    "unclean-by-tool": """
        brokers A B
        topic unclean=false acks=1
        A leads
        append 2
        fetch all
        append 1
        crash B
        fence B
        append 2
        crash A
        fence A
        start B
        elect B unclean
        append 1
        start A
        fetch all
        """,
    "epochs-without-fetches": """
        brokers A B C
        topic acks=0 unclean=false
        A leads
        append 1
        elect B
        append 1
        elect C
        append 2
        fetch B
        elect A
        append 1
        fetch all
        """,
    "reassign-follower": """
        brokers A B C
        topic rf=2 unclean=false
        A leads
        append 2
        fetch all
        reassign A C
        append 1
        fetch C x3
        fetch all
        append 1
        fetch all
        """,
    "reassign-leader": """
        brokers A B C
        topic rf=2 unclean=false
        A leads
        append 2
        fetch all
        reassign C B
        append 1
        fetch all
        append 1
        fetch all
        """,
    "reassign-in-a-crash": """
        brokers A B C
        topic rf=2 unclean=false acks=1
        A leads
        append 2
        fetch all
        append 1
        reassign C B
        crash A
        fence A
        append 1
        fetch all
        start A
        fetch all
        """,
}
"""Each history by its name."""
