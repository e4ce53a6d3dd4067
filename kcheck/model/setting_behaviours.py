"""Rows about settings: which values end the process of a broker."""

from kcheck.model.behaviour import Behaviour


class SettingBehaviours:
    """Settings and configurations of topics that a release refuses."""

    has_no_simple_acl_authorizer: Behaviour = Behaviour(
        "The class kafka.security.auth.SimpleAclAuthorizer does not exist.", since="3.0"
    )
    has_no_zookeeper_authorizer: Behaviour = Behaviour(
        "The class kafka.security.authorizer.AclAuthorizer does not exist.", since="4.0"
    )
