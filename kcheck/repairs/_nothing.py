"""The rules about which nothing is ever planned, and why; docs/repair.md shows them."""

WITHOUT = {
    "KC001": "what cannot be read proves nothing: look at the disk, and at who may read it",
    "KC131": "the broker removes the marker at its next start, whatever stands in it",
    "KC150": "the file became shorter while it was read: a broker is running",
    "KC167": "kcheck has not looked into the batch: it need not be wrong",
    "KC186": "maybe nothing is wrong, and no record can be made up",
    "KC191": "the metadata is that of the cluster: another node has it",
    "KC192": "nothing else tells how the node voted",
    "KC215": "the broker reads the log through, and writes the line itself",
    "KC231": "the batch is as the broker wrote it; the epoch of old messages nobody knows",
    "KC232": "the batches are whole: it is the release that cannot read them",
    "KC303": "only the cluster knows which of the ids is that of the topic",
    "KC308": "a broker is running on the log dir",
    "KC309": "the name does not tell whether it is a copy, a backup, or the partition itself",
    "KC312": "the start writes the file anew where it is missing; whether the log is that of KRaft its records tell",
    "KC401": "nothing tells which of the two replicas was changed",
    "KC402": "which replica is right the leader decides: see kcheck truncation",
    "KC403": "the replica fetches what it lacks from the leader",
    "KC404": "only the cluster knows which of the ids is that of the topic",
    "KC405": "the leader tells its log start to the other replicas",
    "KC406": "only the cluster knows where the replicas are",
}
