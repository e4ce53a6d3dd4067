"""One partition of a cluster, replayed event by event, with its brokers, controller, network and clients.

No module has a clock, a file or chance, so the same events lead to the same states. Kafka's decisions come from
`kcheck.core`, as for all other verbs.

In: the text of a history. Out: every step with its replicas, and a verdict.

- `history`: Which title and end does a history have that kcheck ships?
- `script`: Which events and expectations does the text contain, and how is an event written?
- `topic_line`: Which settings does the topic have?
- `words`: Which words does a line have, and which word cannot be understood?
- `json_script`: How does a history look as JSON?
- `replay`: Does a history end as it expects under a release?
- `state`: In which state are brokers, controller and network?
- `world`: What changes while one event happens?
- `events`: What does the cluster do after each event?
- `deliveries`: Which messages arrive, and what happens then?
- `leaders`: What does a leader do?
- `followers`: What does a follower do?
- `controllers`: What does the controller do?
- `logs`: What happens to the log of a replica after a shutdown, after a power loss, and when the broker starts?
- `decisions`: Which rule of Kafka decided a step?
- `verdict`: Which acknowledged records are lost, and which replicas differ?
- `directories`: Which files do the simulated brokers have?
- `search`: Which shortest history breaks a promise?
- `moves`: What can happen next?
- `promises`: What does Kafka promise?
- `canonical`: Which states are equal for every rule?
- `mutants`: Which conditions of Kafka can be switched off?
"""
