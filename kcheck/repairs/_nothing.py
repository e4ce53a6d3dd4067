"""The rules that no repair handles, and why; docs/repair.md lists them."""

WITHOUT = {
    "KC001": "an unreadable file proves nothing: check the disk and the permissions",
    "KC131": "the broker removes the marker at its next start, whatever its content",
    "KC150": "the file became shorter while it was read: a broker is running",
    "KC167": "kcheck did not decode the batch: it need not be wrong",
    "KC186": "possibly nothing is wrong, and lost records cannot be restored",
    "KC191": "the metadata belongs to the cluster: another node has it",
    "KC192": "no other file records how the node voted",
    "KC215": "the broker scans the log and writes the line itself",
    "KC231": "the batch is as the broker wrote it; the epoch of old messages is unknown",
    "KC232": "the batches are valid, but this release cannot read them",
    "KC303": "only the cluster knows the id of the topic",
    "KC308": "a broker is running on the log dir",
    "KC309": "the name does not show whether this is a copy, a backup or the partition itself",
    "KC312": "the next start writes a missing file again; only the records show whether this is the KRaft metadata log",
    "KC401": "the files do not show which of the two replicas changed",
    "KC402": "the choice of the leader decides which replica is right: run kcheck truncation",
    "KC403": "the replica fetches the missing records from the leader",
    "KC404": "only the cluster knows the id of the topic",
    "KC405": "the other replicas learn the log start from the leader",
    "KC406": "only the cluster knows where the replicas are",
}
