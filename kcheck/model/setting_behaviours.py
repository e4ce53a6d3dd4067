"""Rows about settings: which values end the process of a broker."""

from kcheck.model.behaviour import Behaviour


class SettingBehaviours:
    """Settings and configurations of topics that a release refuses."""

    has_no_simple_acl_authorizer = Behaviour(
        "The class kafka.security.auth.SimpleAclAuthorizer does not exist.", since="3.0"
    )
    refuses_no_leader_checks = Behaviour(
        "A broker refuses leader.imbalance.check.interval.seconds below 1.", since="3.2"
    )
    refuses_low_settings_of_topics = Behaviour(
        "A broker refuses segment.index.bytes below 4, flush.messages below 1, and settings of its cleaner below 0.",
        since="3.3",
    )
    has_no_zookeeper_authorizer = Behaviour(
        "The class kafka.security.authorizer.AclAuthorizer does not exist.", since="4.0"
    )
    refuses_small_segments = Behaviour(
        "A broker refuses log.segment.bytes below 1 MiB.", since="4.0", reference="KIP-1030"
    )
    refuses_small_segments_of_topics = Behaviour(
        "A broker refuses a topic with segment.bytes below 1 MiB, and metadata.log.segment.bytes below 8 MiB.",
        since="4.1",
        reference="KIP-1030",
    )
    refuses_empty_list_entries = Behaviour(
        "A broker refuses an empty entry in log.dirs or listeners, and num.replica.fetchers below 1.",
        since="4.2",
    )
