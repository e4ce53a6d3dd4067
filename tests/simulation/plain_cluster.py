"""A slow, obvious twin of the simulator: one partition in dicts and lists, a record at a time, no message is ever late.

It knows four Kafkas: `high_watermark` is 0.10.2, `kip101` is 1.1 and `epochs` is 2.4, all with ZooKeeper; `fetch` is
3.9 with KRaft. Nothing of kcheck is imported.
"""

from typing import Any

NOBODY = -1


class PlainCluster:
    """Brokers 0 to n-1; 0 leads at first and all are in sync. Records are pairs of leader epoch and number."""

    def __init__(self, count: int, min_isr: int, family: str) -> None:
        self.family, self.min_isr = family, min_isr
        self.old, self.kraft = family == "high_watermark", family == "fetch"
        self.early = family in ("high_watermark", "kip101")
        self.leader, self.epoch, self.isr, self.live = 0, 0, list(range(count)), set(range(count))
        self.acked: list[bool | None] = []
        self.brokers: list[dict[str, Any]] = [
            {"log": [], "epochs": [], "hw": 0, "file": 0, "flushed": 0, "up": True, "role": "none", "leader": NOBODY,
             "epoch": -1, "unheard": None} for _ in range(count)
        ]  # fmt: skip
        self.tell()
        for broker in self.brokers[1:]:
            broker["role"] = "fetching"

    # The controller.

    def tell(self, only: int | None = None) -> None:
        """Say to every broker who leads."""
        for number in range(len(self.brokers)):
            if only in (None, number) and self.brokers[number]["up"]:
                self.hear(number)

    def remove(self, number: int) -> None:
        """Take a broker for dead."""
        self.live.discard(number)
        if number not in self.isr and number != self.leader:
            return
        left = [member for member in self.isr if member != number]
        if self.leader != number:
            changed = self.kraft and (self.leader not in left or self.leader not in self.live)
            if changed:
                self.choose(left)
            elif not self.kraft:
                self.epoch += 1
            self.isr = left or self.isr
            return
        self.choose(left)
        if self.kraft or self.leader == NOBODY:
            self.isr = left or self.isr
        else:
            self.isr = [member for member in self.isr if member in self.live]

    def choose(self, able: list[int]) -> None:
        """Let the first replica in sync that lives lead."""
        before = self.leader
        self.leader = next((member for member in sorted(able) if member in self.live), NOBODY)
        self.epoch += self.leader != before

    def fence(self, number: int) -> None:
        """End a session."""
        if number in self.live:
            self.remove(number)
            self.tell()

    def elect(self, number: int) -> None:
        """Move the leadership to a replica in sync."""
        if self.leader != number and number in self.live and number in self.isr:
            self.leader = number
            self.epoch += 1
            if not self.kraft:
                self.isr = [member for member in self.isr if member in self.live]
            self.tell()

    def start(self, number: int) -> None:
        """Start a broker, or register one that was fenced while it ran."""
        broker = self.brokers[number]
        if broker["up"] and number in self.live:
            return
        if not broker["up"]:
            end = len(broker["log"])
            broker["epochs"] = [entry for entry in broker["epochs"] if entry[1] < end]
            if not self.old:
                for offset, (epoch, _) in enumerate(broker["log"]):
                    if not broker["epochs"] or epoch > broker["epochs"][-1][0]:
                        broker["epochs"].append((epoch, offset))
            broker.update(up=True, flushed=end, hw=min(broker["file"], end))
        if number in self.live:
            if self.early:  # Nobody has noticed.
                self.tell(number)
                return
            self.remove(number)
        self.live.add(number)
        if self.leader == NOBODY:
            able = [member for member in self.isr if member in self.live]
            if able:
                self.leader = min(able)
                self.epoch += 1
                self.isr = self.isr if self.kraft else able
        self.tell()

    # What a broker does when it hears who leads.

    def hear(self, number: int) -> None:
        """Become leader or follower."""
        broker = self.brokers[number]
        if self.epoch == broker["epoch"]:
            if broker["role"] == "leader":
                broker["isr"] = [*self.isr]
                self.advance(number)
            return
        same = broker["leader"] == self.leader and broker["role"] in ("fetching", "truncating")
        led = broker["role"] == "leader"
        if broker["leader"] != self.leader or self.leader == number:
            broker["unheard"] = None
        broker.update(epoch=self.epoch, leader=self.leader)
        if self.leader == number:
            self.lead(number, again=led)
            return
        self.give_up(number)
        if self.leader == NOBODY:
            broker["role"] = "none"
        elif not (self.early and same):
            if self.old or (not broker["epochs"] and not self.early):
                self.cut(broker, min(broker["hw"], len(broker["log"])))
                broker["role"] = "fetching"
            else:
                broker["role"] = "fetching" if self.kraft else "truncating"

    def lead(self, number: int, *, again: bool) -> None:
        """Begin to lead in a new epoch."""
        broker = self.brokers[number]
        end = len(broker["log"])
        if not self.early:
            self.note_epoch(broker, self.epoch, end)
        ends = broker["ends"] if again else dict.fromkeys(range(len(self.brokers)), -1)
        broker.update(
            role="leader", isr=[*self.isr], ends=ends, began=end, seen=dict.fromkeys(ends, end),
            fetched={other: again and (not self.kraft or other in self.isr) for other in ends},
            caught={other: other in self.isr for other in ends},
        )  # fmt: skip
        self.advance(number)

    def give_up(self, number: int) -> None:
        """Fail the producers that wait for a former leader."""
        for at, known in enumerate(self.acked):
            if known is None and self.takers[at] == number:
                self.acked[at] = False

    takers: dict[int, int]

    def note_epoch(self, broker: dict[str, Any], epoch: int, offset: int) -> None:
        """Write where an epoch begins; what contradicts it goes, or up to 2.0.0 comes too late."""
        if self.early:
            if not broker["epochs"] or (epoch > broker["epochs"][-1][0] and offset >= broker["epochs"][-1][1]):
                broker["epochs"].append((epoch, offset))
        elif not broker["epochs"] or broker["epochs"][-1][0] != epoch:
            broker["epochs"] = [entry for entry in broker["epochs"] if entry[0] < epoch and entry[1] < offset]
            broker["epochs"].append((epoch, offset))

    def cut(self, broker: dict[str, Any], to: int) -> None:
        """Truncate a log."""
        if to >= len(broker["log"]):
            if self.family == "fetch":
                broker["epochs"] = [entry for entry in broker["epochs"] if entry[1] < len(broker["log"])]
            return
        del broker["log"][to:]
        broker["epochs"] = [entry for entry in broker["epochs"] if entry[1] < to]
        broker["flushed"] = min(broker["flushed"], to)
        if not self.early:
            broker["hw"] = min(broker["hw"], to)

    # What leaders do.

    def append(self) -> None:
        """Let the leader take one record of acks=all."""
        number = self.leader
        if number == NOBODY or not self.brokers[number]["up"] or self.brokers[number]["role"] != "leader":
            return
        broker = self.brokers[number]
        if len(broker["isr"]) < self.min_isr:
            return
        if not self.old:
            self.note_epoch(broker, broker["epoch"], len(broker["log"]))
        broker["log"].append((broker["epoch"], len(self.acked)))
        self.takers = {**getattr(self, "takers", {}), len(self.acked): number}
        self.offsets = {**getattr(self, "offsets", {}), len(self.acked): len(broker["log"])}
        self.acked.append(None)
        self.advance(number)

    offsets: dict[int, int]

    def advance(self, number: int, joining: int | None = None) -> None:
        """Raise the high watermark to the least log end of those who count."""
        broker = self.brokers[number]
        least = len(broker["log"])
        for other in range(len(self.brokers)):
            counts = other in broker["isr"] or other == joining
            counts = counts or (broker["caught"][other] and (not self.kraft or other in self.live))
            if other != number and counts:
                least = min(least, broker["ends"][other])
        if not (self.kraft and len(broker["isr"]) < self.min_isr):
            broker["hw"] = max(broker["hw"], least)
        for at, known in enumerate(self.acked):
            if known is None and self.takers[at] == number and self.offsets[at] <= broker["hw"]:
                self.acked[at] = len(broker["isr"]) >= self.min_isr

    def shrink(self, member: int) -> None:
        """Let a slow follower leave the ISR."""
        if self.leader == NOBODY or not self.brokers[self.leader]["up"]:
            return
        broker = self.brokers[self.leader]
        if broker["role"] != "leader" or member == self.leader or member not in broker["isr"]:
            return
        if not self.early and broker["ends"][member] == len(broker["log"]):
            return
        broker["caught"][member] = False
        self.isr = [other for other in self.isr if other != member]
        self.tell()

    # What followers do.

    def fetch(self, number: int) -> None:
        """Let a follower send its next request and take the answer."""
        broker = self.brokers[number]
        if not broker["up"] or broker["role"] not in ("fetching", "truncating"):
            return
        leader = self.brokers[broker["leader"]]
        if not leader["up"] or leader["role"] != "leader" or (not self.early and leader["epoch"] != broker["epoch"]):
            broker["unheard"] = None
            return
        if broker["role"] == "truncating":
            self.ask(broker, leader)
            return
        offset, end = len(broker["log"]), len(leader["log"])
        if self.family == "fetch" and broker["epochs"]:
            last = broker["epochs"][-1][0]
            found = self.end_of(leader, last)
            if found is not None and (found[0] < last or found[1] < offset):
                self.cut_by(broker, found)
                broker["unheard"] = leader["hw"]
                return
            if found is None:
                offset = end + 1
        if offset > end:
            self.out_of_range(number, broker, end)
            return
        self.answer(number, broker, leader, offset)

    def out_of_range(self, number: int, broker: dict[str, Any], end: int) -> None:
        """Truncate to the leader's end; the oldest brokers exit."""
        broker["unheard"] = None
        if end < len(broker["log"]):
            if self.early:
                self.crash(number)
            else:
                self.cut(broker, end)

    def answer(self, number: int, broker: dict[str, Any], leader: dict[str, Any], offset: int) -> None:
        """Send records, and note how far the follower is."""
        records, before, end = leader["log"][offset:], leader["hw"], len(leader["log"])
        if offset >= end or (offset >= leader["seen"][number] and leader["fetched"][number]):
            leader["caught"][number] = True
        leader["ends"][number], leader["seen"][number], leader["fetched"][number] = offset, end, True
        joins = number not in leader["isr"] and offset >= before and (self.early or offset >= leader["began"])
        joins = joins and (not self.kraft or number in self.live)
        if joins and not self.kraft:
            self.isr.append(number)
            leader["isr"] = [*self.isr]
        self.advance(broker["leader"], joining=number if joins else None)
        shown = before if records else leader["hw"]
        if joins:
            self.isr = [*self.isr, number] if self.kraft else self.isr
            self.tell()
        for record in records:
            if not self.old:
                self.note_epoch(broker, record[0], len(broker["log"]))
            broker["log"].append(record)
        if records or shown != broker["unheard"]:  # What a leader has said in a session it does not say again.
            broker.update(hw=min(shown, len(broker["log"])), unheard=None)

    def ask(self, broker: dict[str, Any], leader: dict[str, Any]) -> None:
        """Ask where the latest epoch ends, and truncate."""
        last = broker["epochs"][-1][0] if broker["epochs"] else -1
        found = self.end_of(leader, last)
        if found is not None and self.early and last < leader["epochs"][0][0]:
            found = None  # Below all epochs that it knows, a leader knew nothing.
        if found is None:
            self.cut(broker, min(broker["hw"], len(broker["log"])))
            broker["role"] = "fetching"
        elif self.early:
            self.cut(broker, found[1])
            broker["role"] = "fetching"
        elif self.cut_by(broker, found):
            broker["role"] = "fetching"

    def cut_by(self, broker: dict[str, Any], found: tuple[int, int]) -> bool:
        """Truncate after an answer; whether that was all."""
        own = self.end_of(broker, found[0])
        if own is None:
            self.cut(broker, found[1])
            return True
        self.cut(broker, own[1] if own[0] != found[0] else min(own[1], found[1]))
        return own[0] == found[0]

    @staticmethod
    def end_of(broker: dict[str, Any], epoch: int) -> tuple[int, int] | None:
        """Return the largest known epoch up to this one, and where it ends."""
        known = broker["epochs"]
        if epoch < 0 or not known or epoch > known[-1][0]:
            return None
        if epoch == known[-1][0]:
            return epoch, len(broker["log"])
        higher = next(entry for entry in known if entry[0] > epoch)
        lower = [entry for entry in known if entry[0] <= epoch]
        return (lower[-1][0] if lower else epoch), higher[1]

    # Disks and processes.

    def crash(self, number: int) -> None:
        """Kill a process."""
        if self.brokers[number]["up"]:
            self.give_up(number)
            for other in self.brokers:
                other["unheard"] = None if other["leader"] == number else other["unheard"]
            self.brokers[number].update(up=False, role="none", leader=NOBODY, epoch=-1, unheard=None)

    def power_loss(self, number: int) -> None:
        """Kill a machine: what was not flushed is gone."""
        self.crash(number)
        del self.brokers[number]["log"][self.brokers[number]["flushed"] :]

    def checkpoint(self, number: int) -> None:
        """Write the high watermark."""
        if self.brokers[number]["up"]:
            self.brokers[number]["file"] = self.brokers[number]["hw"]

    def flush(self, number: int) -> None:
        """Sync the log."""
        if self.brokers[number]["up"]:
            self.brokers[number]["flushed"] = len(self.brokers[number]["log"])
