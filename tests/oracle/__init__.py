"""What real Kafka says: its released classes, and brokers started from them.

Here are the means: jars and classes (`jars`, `ask`, `java/`), a log manager alone (`boot`), clusters of brokers
(`kafka`, `histories`, `scenes`, `partitions`, `links`, `admin_requests`, `wire`). `messages` and `settings` write
tables of kcheck from Kafka's classes. A room is named after what is asked.

- `readers`: what Kafka reads in the same bytes: files, batches, records, ZooKeeper.
- `starts`: what a start makes of the files of one broker.
- `clusters`: what several brokers do: elect, truncate, lose, come back.
- `logs`: what brokers write into their own logs.
- `incidents`: incidents made from a seed, asked before the start and compared with what happened.
"""
