"""`kcheck recover topic`: lets old directories of a topic serve again."""

from typing import Annotated

import typer

from kcheck import api
from kcheck.cli.examples import missing
from kcheck.cli.options import Common, Metadata, with_common
from kcheck.cli.recover_quorum import Force, QuorumOut

TopicAndBrokers = Annotated[
    list[str] | None,
    typer.Argument(metavar="TOPIC BROKER=PATH...", help="The topic, and the log dirs of every broker."),
]
FormerId = Annotated[
    str | None, typer.Option("--topic-id", metavar="ID", help="The former id, if several topics had this name.")
]


@with_common
def recover_topic(
    common: Common,
    names: TopicAndBrokers = None,
    metadata: Metadata = None,
    topic_id: FormerId = None,
    force: Force = False,
    out: QuorumOut = None,
) -> None:
    """Bring old directories of a topic back into service."""
    if not names or len(names) < 2:  # a topic and a broker
        raise missing("BROKER=PATH..." if names else "TOPIC BROKER=PATH...", "recover-topic")
    topic, *brokers = names
    answer = api.recover_topic(
        topic, *brokers, metadata=metadata or (), topic_id=topic_id, force=force, out=out, kafka=common.release(brokers)
    )
    common.write_answer(answer.report(), failed=lambda: bool(answer.refusals))
