"""The behavior of Kafka's own command line tools, by release."""

from kcheck.model.behaviour import Behaviour


class ToolBehaviours:
    """Each row holds for the releases from `since` on, and before `until`."""

    elects_at_config_change: Behaviour = Behaviour(
        "The controller elects uncleanly as soon as a topic allows it; before, only a new controller does.",
        since="2.1",
        reference="KAFKA-6835",
    )
    has_leader_election_tool: Behaviour = Behaviour(
        "The tool kafka-leader-election elects uncleanly; before, only a configuration makes the controller do it.",
        since="2.4",
        reference="KIP-460",
    )
    elects_by_command_config: Behaviour = Behaviour(
        "The tool kafka-leader-election takes --command-config; before, it is --admin.config.",
        since="4.2",
        reference="KIP-1147",
    )
    reassigns_by_bootstrap_server: Behaviour = Behaviour(
        "The tool kafka-reassign-partitions takes --bootstrap-server; before, it needs --zookeeper.", since="2.6"
    )
    describes_by_bootstrap_server: Behaviour = Behaviour(
        "The tool kafka-topics takes --bootstrap-server; before, it needs --zookeeper.",
        since="2.2",
        reference="KIP-377",
    )
    produces_by_bootstrap_server: Behaviour = Behaviour(
        "The tool kafka-console-producer takes --bootstrap-server, before --broker-list.",
        since="2.5",
        reference="KIP-499",
    )
    dumps_by_tools_class: Behaviour = Behaviour(
        "The tool kafka-dump-log is org.apache.kafka.tools.DumpLogSegments, before kafka.tools.DumpLogSegments.",
        since="4.3",
    )
    stops_one_node: Behaviour = Behaviour(
        "The script kafka-server-stop takes --node-id of a KRaft node; before, every Kafka process of a host stops.",
        since="3.7",
        reference="KIP-979",
    )
    resets_offsets: Behaviour = Behaviour(
        "The tool kafka-consumer-groups resets offsets.", since="0.11.0", reference="KIP-122"
    )
    resets_several_groups: Behaviour = Behaviour(
        "The tool kafka-consumer-groups resets several groups, and reads them from the first column of a CSV file.",
        since="2.3",
        reference="KAFKA-7471",
    )
