"""The words for why the controller elects a replica, and the one legend that explains them."""

from kcheck.model.cluster import Seat

SEATS = {Seat.ISR: "ISR", Seat.ELR: "ELR", Seat.LAST_KNOWN: "last leader", Seat.NONE: "unclean", None: "?"}
"""The words, by the place of the replica; `?` without metadata."""
SEAT_LEGEND = (
    "election: why a broker leads that starts first. ISR: it is in sync. ELR: it is an eligible leader replica. last"
    " leader: it led last, and no replica is in ISR or ELR. The controller elects these by itself. unclean: only an"
    " unclean election makes it lead."
)
"""The legend of the column `election`."""
