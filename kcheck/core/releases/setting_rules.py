"""The values of a setting that each release accepts, by Kafka's own classes.

Written by `python -m tests.oracle.settings`. A line has broker or topic, then the name, then the rules. A rule has the
type, the accepted values, its first release, and the first one without it, or `-`. `-` accepts every value of the type.
`2..9` accepts numbers, `a|b` words, and `%` words in any case. `!` accepts all but an empty text or list. `,` accepts
lists without empty entries.
With `class` the name is a setting, or the end of one, and the types are Kafka's classes.
"""

TABLE = """
broker add.partitions.to.txn.retry.backoff.max.ms int 0.. 4.0 -
broker add.partitions.to.txn.retry.backoff.ms int 1.. 4.0 -
broker advertised.host.name string - 0.10.2 3.0
broker advertised.listeners list !, 4.2 - string - 0.10.2 4.2
broker advertised.port int - 0.10.2 3.0
broker alter.config.policy.class.name class - 0.11.0 -
broker alter.config.policy.kraft.compatibility.enable boolean - 3.9 4.0
broker alter.log.dirs.replication.quota.window.num int 1.. 1.1 -
broker alter.log.dirs.replication.quota.window.size.seconds int 1.. 1.1 -
broker authorizer.class.name string - 0.10.2 -
broker auto.create.topics.enable boolean - 0.10.2 -
broker auto.include.jmx.reporter boolean - 3.4 4.0
broker auto.leader.rebalance.enable boolean - 0.10.2 -
broker background.threads int 1.. 0.10.2 -
broker broker.heartbeat.interval.ms int - 2.8 -
broker broker.id int - 0.10.2 -
broker broker.id.generation.enable boolean - 0.10.2 4.0
broker broker.rack string - 0.10.2 -
broker broker.session.timeout.ms int - 2.8 -
broker client.quota.callback.class class - 2.0 -
broker compression.gzip.level int 1..9|-1 3.8 -
broker compression.lz4.level int 1..17 3.8 -
broker compression.type string - 0.10.2 3.3 string uncompressed|zstd|lz4|snappy|gzip|producer 3.3 -
broker compression.zstd.level int -131072..22 3.8 -
broker config.providers list , 4.2 -
broker connection.failed.authentication.delay.ms int 0.. 2.1 -
broker connections.max.idle.ms long - 0.10.2 -
broker connections.max.reauth.ms long - 2.2 -
broker control.plane.listener.name string - 2.2 4.0
broker controlled.shutdown.enable boolean - 0.10.2 -
broker controlled.shutdown.max.retries int - 0.10.2 4.0
broker controlled.shutdown.retry.backoff.ms long - 0.10.2 4.0
broker controller.listener.names list !, 4.2 - string - 2.8 4.2
broker controller.performance.always.log.threshold.ms long 0.. 4.0 -
broker controller.performance.sample.period.ms long 100.. 4.0 -
broker controller.quorum.append.linger.ms int - 2.8 4.1 int 0.. 4.1 -
broker controller.quorum.auto.join.enable boolean - 4.2 -
broker controller.quorum.bootstrap.servers list , 3.8 -
broker controller.quorum.election.backoff.max.ms int - 2.8 4.1 int 0.. 4.1 -
broker controller.quorum.election.timeout.ms int - 2.8 4.1 int 0.. 4.1 -
broker controller.quorum.fetch.max.bytes int 1.. 4.3 -
broker controller.quorum.fetch.snapshot.max.bytes int 1.. 4.3 -
broker controller.quorum.fetch.timeout.ms int - 2.8 4.1 int 0.. 4.1 -
broker controller.quorum.request.timeout.ms int - 2.8 4.1 int 0.. 4.1 -
broker controller.quorum.retry.backoff.ms int - 2.8 4.1 int 0.. 4.1 -
broker controller.quorum.voters list , 2.8 -
broker controller.quota.window.num int 1.. 2.7 -
broker controller.quota.window.size.seconds int 1.. 2.7 -
broker controller.socket.timeout.ms int - 0.10.2 -
broker cordoned.log.dirs list , 4.3 -
broker create.topic.policy.class.name class - 0.10.2 -
broker default.replication.factor int - 0.10.2 -
broker delegation.token.expiry.check.interval.ms long 1.. 1.1 -
broker delegation.token.expiry.time.ms long 1.. 1.1 -
broker delegation.token.master.key password - 1.1 4.0
broker delegation.token.max.lifetime.ms long 1.. 1.1 -
broker delegation.token.secret.key password - 2.8 -
broker delete.records.purgatory.purge.interval.requests int - 0.11.0 -
broker delete.topic.enable boolean - 0.10.2 -
broker early.start.listeners list , 4.2 - string - 3.3 4.2
broker eligible.leader.replicas.enable boolean - 3.7 4.0
broker fetch.max.bytes int 1024.. 2.5 -
broker fetch.purgatory.purge.interval.requests int - 0.10.2 -
broker follower.fetch.last.tiered.offset.enable boolean - 4.3 -
broker group.consumer.assignment.interval.ms int 0.. 4.3 -
broker group.consumer.assignors list !, 4.2 - list - 3.5 4.2
broker group.consumer.heartbeat.interval.ms int 1.. 3.5 -
broker group.consumer.max.assignment.interval.ms int 0.. 4.3 -
broker group.consumer.max.heartbeat.interval.ms int 1.. 3.5 -
broker group.consumer.max.session.timeout.ms int 1.. 3.5 -
broker group.consumer.max.size int 1.. 3.5 -
broker group.consumer.migration.policy string %DISABLED|DOWNGRADE|UPGRADE|BIDIRECTIONAL 3.8 -
broker group.consumer.min.assignment.interval.ms int 0.. 4.3 -
broker group.consumer.min.heartbeat.interval.ms int 1.. 3.5 -
broker group.consumer.min.session.timeout.ms int 1.. 3.5 -
broker group.consumer.regex.refresh.interval.ms int 10000.. 4.1 -
broker group.consumer.session.timeout.ms int 1.. 3.5 -
broker group.coordinator.append.linger.ms int -1.. 4.2 - int 0.. 3.8 4.2
broker group.coordinator.background.threads int 1.. 4.3 -
broker group.coordinator.cached.buffer.max.bytes int 524288.. 4.3 -
broker group.coordinator.new.enable boolean - 3.5 4.1
broker group.coordinator.rebalance.protocols list !consumer|classic|share|streams 4.2 - list consumer|classic 3.7 3.8
broker group.coordinator.rebalance.protocols list consumer|classic|share 4.0 4.1
broker group.coordinator.rebalance.protocols list consumer|classic|share|streams 4.1 4.2
broker group.coordinator.rebalance.protocols list consumer|classic|share|unknown 3.9 4.0
broker group.coordinator.rebalance.protocols list consumer|classic|unknown 3.8 3.9
broker group.coordinator.threads int 1.. 3.5 -
broker group.initial.rebalance.delay.ms int - 0.11.0 -
broker group.max.session.timeout.ms int - 0.10.2 -
broker group.max.size int 1.. 2.2 -
broker group.min.session.timeout.ms int - 0.10.2 -
broker group.share.assignment.interval.ms int 0.. 4.3 -
broker group.share.assignors list !, 4.2 - list - 4.1 4.2
broker group.share.delivery.count.limit int 2..10 3.9 -
broker group.share.enable boolean - 3.9 4.3
broker group.share.heartbeat.interval.ms int 1.. 3.9 -
broker group.share.initialize.retry.interval.ms int 1.. 4.2 -
broker group.share.max.assignment.interval.ms int 0.. 4.3 -
broker group.share.max.delivery.count.limit int 5..25 4.3 -
broker group.share.max.groups short 1..100 3.9 4.1
broker group.share.max.heartbeat.interval.ms int 1.. 3.9 -
broker group.share.max.partition.max.record.locks int 2000..10000 4.3 -
broker group.share.max.record.lock.duration.ms int 30000..3600000 3.9 -
broker group.share.max.session.timeout.ms int 1.. 3.9 -
broker group.share.max.share.sessions int 1.. 4.1 -
broker group.share.max.size int 1..1000 4.0 - short 10..1000 3.9 4.0
broker group.share.min.assignment.interval.ms int 0.. 4.3 -
broker group.share.min.delivery.count.limit int 2..5 4.3 -
broker group.share.min.heartbeat.interval.ms int 1.. 3.9 -
broker group.share.min.partition.max.record.locks int 100..2000 4.3 -
broker group.share.min.record.lock.duration.ms int 1000..30000 3.9 -
broker group.share.min.session.timeout.ms int 1.. 3.9 -
broker group.share.partition.max.record.locks int 100..10000 3.9 -
broker group.share.persister.class.name string - 4.0 -
broker group.share.record.lock.duration.ms int 1000..3600000 4.0 - int 1000..60000 3.9 4.0
broker group.share.session.timeout.ms int 1.. 3.9 -
broker group.streams.assignment.interval.ms int 0.. 4.3 -
broker group.streams.heartbeat.interval.ms int 1.. 4.1 -
broker group.streams.initial.rebalance.delay.ms int 0.. 4.2 -
broker group.streams.max.assignment.interval.ms int 0.. 4.3 -
broker group.streams.max.heartbeat.interval.ms int 1.. 4.1 -
broker group.streams.max.session.timeout.ms int 1.. 4.1 -
broker group.streams.max.size int 1.. 4.1 -
broker group.streams.max.standby.replicas int 0.. 4.1 -
broker group.streams.min.assignment.interval.ms int 0.. 4.3 -
broker group.streams.min.heartbeat.interval.ms int 1.. 4.1 -
broker group.streams.min.session.timeout.ms int 1.. 4.1 -
broker group.streams.num.standby.replicas int 0.. 4.1 -
broker group.streams.session.timeout.ms int 1.. 4.1 -
broker host.name string - 0.10.2 3.0
broker initial.broker.registration.timeout.ms int - 2.8 -
broker inter.broker.listener.name string - 0.10.2 -
broker inter.broker.protocol.version string - 0.10.2 4.0
broker internal.metadata.delete.delay.millis long - 4.1 -
broker internal.metadata.log.segment.bytes int - 4.1 -
broker internal.metadata.max.batch.size.in.bytes int - 4.1 -
broker internal.metadata.max.fetch.size.in.bytes int - 4.1 4.3
broker kafka.metrics.polling.interval.secs int 1.. 2.1 -
broker kafka.metrics.reporters list , 4.2 - list - 2.1 4.2
broker leader.imbalance.check.interval.seconds long - 0.10.2 3.2 long 1.. 3.2 -
broker leader.imbalance.per.broker.percentage int - 0.10.2 4.0
broker listener.security.protocol.map string - 0.10.2 -
broker listeners list !, 4.2 - string - 0.10.2 4.2
broker log.cleaner.backoff.ms long 0.. 0.10.2 -
broker log.cleaner.dedupe.buffer.size long - 0.10.2 -
broker log.cleaner.delete.retention.ms long - 0.10.2 3.3 long 0.. 3.3 -
broker log.cleaner.enable boolean - 0.10.2 -
broker log.cleaner.io.buffer.load.factor double - 0.10.2 -
broker log.cleaner.io.buffer.size int 0.. 0.10.2 -
broker log.cleaner.io.max.bytes.per.second double - 0.10.2 -
broker log.cleaner.max.compaction.lag.ms long - 2.3 3.3 long 1.. 3.3 -
broker log.cleaner.min.cleanable.ratio double - 0.10.2 3.3 double 0..1 3.3 -
broker log.cleaner.min.compaction.lag.ms long - 0.10.2 3.3 long 0.. 3.3 -
broker log.cleaner.threads int 0.. 0.10.2 -
broker log.cleanup.policy list compact|delete 0.10.2 -
broker log.dir list !, 4.2 - string - 0.10.2 4.2
broker log.dir.failure.timeout.ms long 1.. 3.8 -
broker log.dirs list !, 4.2 - string - 0.10.2 4.2
broker log.flush.interval.messages long 1.. 0.10.2 -
broker log.flush.interval.ms long - 0.10.2 -
broker log.flush.offset.checkpoint.interval.ms int 0.. 0.10.2 -
broker log.flush.scheduler.interval.ms long - 0.10.2 -
broker log.flush.start.offset.checkpoint.interval.ms int 0.. 0.11.0 -
broker log.index.interval.bytes int 0.. 0.10.2 -
broker log.index.size.max.bytes int 4.. 0.10.2 -
broker log.initial.task.delay.ms long 0.. 3.8 -
broker log.local.retention.bytes long -2.. 3.6 -
broker log.local.retention.ms long -2.. 3.6 -
broker log.message.downconversion.enable boolean - 2.0 4.0
broker log.message.format.version string - 0.10.2 4.0
broker log.message.timestamp.after.max.ms long 0.. 3.6 -
broker log.message.timestamp.before.max.ms long 0.. 3.6 -
broker log.message.timestamp.difference.max.ms long - 0.11.0 3.3 long 0.. 0.10.2 0.11.0 long 0.. 3.3 4.0
broker log.message.timestamp.type string CreateTime|LogAppendTime 0.10.2 -
broker log.preallocate boolean - 0.10.2 -
broker log.retention.bytes long - 0.10.2 -
broker log.retention.check.interval.ms long 1.. 0.10.2 -
broker log.retention.hours int - 0.10.2 -
broker log.retention.minutes int - 0.10.2 -
broker log.retention.ms long - 0.10.2 -
broker log.roll.hours int 1.. 0.10.2 -
broker log.roll.jitter.hours int 0.. 0.10.2 -
broker log.roll.jitter.ms long - 0.10.2 -
broker log.roll.ms long - 0.10.2 -
broker log.segment.bytes int 1048576.. 4.0 - int 14.. 0.10.2 4.0
broker log.segment.delete.delay.ms long 0.. 0.10.2 -
broker max.connection.creation.rate int 0.. 2.7 -
broker max.connections int 0.. 2.3 -
broker max.connections.per.ip int 0.. 2.0 - int 1.. 0.10.2 2.0
broker max.connections.per.ip.overrides string - 0.10.2 -
broker max.incremental.fetch.session.cache.slots int 0.. 1.1 -
broker max.request.partition.size.limit int 1.. 3.8 -
broker message.max.bytes int 0.. 0.10.2 -
broker metadata.log.dir string - 2.8 -
broker metadata.log.max.record.bytes.between.snapshots long 1.. 3.0 -
broker metadata.log.max.snapshot.interval.ms long 0.. 3.4 -
broker metadata.log.segment.bytes int 12.. 3.0 4.1 int 8388608.. 4.1 -
broker metadata.log.segment.min.bytes int 12.. 3.0 4.1
broker metadata.log.segment.ms long - 3.0 -
broker metadata.max.idle.interval.ms int 0.. 3.3 -
broker metadata.max.retention.bytes long - 3.0 -
broker metadata.max.retention.ms long - 3.0 -
broker metric.reporters list , 4.2 - list - 0.10.2 4.2
broker metrics.num.samples int 1.. 0.10.2 -
broker metrics.recording.level string - 0.10.2 -
broker metrics.sample.window.ms long 1.. 0.10.2 -
broker min.insync.replicas int 1.. 0.10.2 -
broker node.id int - 2.8 4.0 int 0.. 4.0 -
broker num.io.threads int 1.. 0.10.2 -
broker num.network.threads int 1.. 0.10.2 -
broker num.partitions int 1.. 0.10.2 -
broker num.recovery.threads.per.data.dir int 1.. 0.10.2 -
broker num.replica.alter.log.dirs.threads int - 1.1 -
broker num.replica.fetchers int - 0.10.2 4.2 int 1.. 4.2 -
broker offset.metadata.max.bytes int - 0.10.2 -
broker offsets.commit.required.acks short - 0.10.2 4.0
broker offsets.commit.timeout.ms int 1.. 0.10.2 -
broker offsets.load.buffer.size int 1.. 0.10.2 -
broker offsets.retention.check.interval.ms long 1.. 0.10.2 -
broker offsets.retention.minutes int 1.. 0.10.2 -
broker offsets.topic.compression.codec int - 0.10.2 -
broker offsets.topic.num.partitions int 1.. 0.10.2 -
broker offsets.topic.replication.factor short 1.. 0.10.2 -
broker offsets.topic.segment.bytes int 1.. 0.10.2 -
broker password.encoder.cipher.algorithm string - 1.1 4.0
broker password.encoder.iterations int 1024.. 1.1 4.0
broker password.encoder.key.length int 8.. 1.1 4.0
broker password.encoder.keyfactory.algorithm string - 1.1 4.0
broker password.encoder.old.secret password - 1.1 4.0
broker password.encoder.secret password - 1.1 4.0
broker port int - 0.10.2 3.0
broker principal.builder.class class - 0.10.2 -
broker process.roles list !broker|controller 4.2 - list broker|controller 2.8 4.2
broker producer.id.expiration.check.interval.ms int 1.. 3.4 -
broker producer.id.expiration.ms int 1.. 3.4 -
broker producer.purgatory.purge.interval.requests int - 0.10.2 -
broker queued.max.request.bytes long - 1.0 -
broker queued.max.requests int 1.. 0.10.2 -
broker quota.consumer.default long 1.. 0.10.2 3.0
broker quota.producer.default long 1.. 0.10.2 3.0
broker quota.window.num int 1.. 0.10.2 -
broker quota.window.size.seconds int 1.. 0.10.2 -
broker remote.fetch.max.wait.ms int 1.. 3.8 -
broker remote.list.offsets.request.timeout.ms long 1.. 4.0 -
broker remote.log.index.file.cache.total.size.bytes long 1.. 3.0 -
broker remote.log.index.file.cache.ttl.ms long -1.. 4.3 -
broker remote.log.manager.copier.thread.pool.size int - 3.9 4.0 int 1.. 3.8 3.9 int 1.. 4.0 -
broker remote.log.manager.copy.max.bytes.per.second long 1.. 3.8 -
broker remote.log.manager.copy.quota.window.num int 1.. 3.8 -
broker remote.log.manager.copy.quota.window.size.seconds int 1.. 3.8 -
broker remote.log.manager.expiration.thread.pool.size int - 3.9 4.0 int 1.. 3.8 3.9 int 1.. 4.0 -
broker remote.log.manager.fetch.max.bytes.per.second long 1.. 3.8 -
broker remote.log.manager.fetch.quota.window.num int 1.. 3.8 -
broker remote.log.manager.fetch.quota.window.size.seconds int 1.. 3.8 -
broker remote.log.manager.follower.thread.pool.size int 1.. 4.2 -
broker remote.log.manager.task.interval.ms long 1.. 3.0 -
broker remote.log.manager.task.retry.backoff.max.ms long 1.. 3.0 -
broker remote.log.manager.task.retry.backoff.ms long 1.. 3.0 -
broker remote.log.manager.task.retry.jitter double 0..0.5 3.0 -
broker remote.log.manager.thread.pool.size int 1.. 3.0 -
broker remote.log.metadata.custom.metadata.max.bytes int 0.. 3.6 -
broker remote.log.metadata.manager.class.name string ! 3.0 -
broker remote.log.metadata.manager.class.path string ! 3.0 3.6 string - 3.6 -
broker remote.log.metadata.manager.impl.prefix string ! 3.0 -
broker remote.log.metadata.manager.listener.name string ! 3.0 -
broker remote.log.reader.max.pending.tasks int 1.. 3.0 -
broker remote.log.reader.threads int 1.. 3.0 -
broker remote.log.storage.manager.class.name string ! 3.0 -
broker remote.log.storage.manager.class.path string ! 3.0 3.6 string - 3.6 -
broker remote.log.storage.manager.impl.prefix string ! 3.0 -
broker remote.log.storage.system.enable boolean - 3.0 -
broker replica.fetch.backoff.ms int 0.. 0.10.2 -
broker replica.fetch.max.bytes int 0.. 0.10.2 -
broker replica.fetch.min.bytes int - 0.10.2 -
broker replica.fetch.response.max.bytes int 0.. 0.10.2 -
broker replica.fetch.wait.max.ms int - 0.10.2 -
broker replica.high.watermark.checkpoint.interval.ms long - 0.10.2 -
broker replica.lag.time.max.ms long - 0.10.2 -
broker replica.selector.class string - 2.4 -
broker replica.socket.receive.buffer.bytes int - 0.10.2 -
broker replica.socket.timeout.ms int - 0.10.2 -
broker replication.quota.window.num int 1.. 0.10.2 -
broker replication.quota.window.size.seconds int 1.. 0.10.2 -
broker request.timeout.ms int - 0.10.2 -
broker reserved.broker.max.id int 0.. 0.10.2 4.0
broker sasl.client.callback.handler.class class - 2.0 -
broker sasl.enabled.mechanisms list , 4.2 - list - 0.10.2 4.2
broker sasl.jaas.config password - 1.1 -
broker sasl.kerberos.kinit.cmd string - 0.10.2 -
broker sasl.kerberos.min.time.before.relogin long - 0.10.2 -
broker sasl.kerberos.principal.to.local.rules list , 4.2 - list - 0.10.2 4.2
broker sasl.kerberos.service.name string - 0.10.2 -
broker sasl.kerberos.ticket.renew.jitter double - 0.10.2 -
broker sasl.kerberos.ticket.renew.window.factor double - 0.10.2 -
broker sasl.login.callback.handler.class class - 2.0 -
broker sasl.login.class class - 2.0 -
broker sasl.login.connect.timeout.ms int - 3.1 -
broker sasl.login.read.timeout.ms int - 3.1 -
broker sasl.login.refresh.buffer.seconds short - 2.0 -
broker sasl.login.refresh.min.period.seconds short - 2.0 -
broker sasl.login.refresh.window.factor double - 2.0 -
broker sasl.login.refresh.window.jitter double - 2.0 -
broker sasl.login.retry.backoff.max.ms long - 3.1 -
broker sasl.login.retry.backoff.ms long - 3.1 -
broker sasl.mechanism.controller.protocol string - 2.8 -
broker sasl.mechanism.inter.broker.protocol string - 0.10.2 -
broker sasl.oauthbearer.assertion.algorithm string %ES256|RS256 4.1 -
broker sasl.oauthbearer.assertion.claim.aud string - 4.1 -
broker sasl.oauthbearer.assertion.claim.exp.seconds int 0..86400 4.1 -
broker sasl.oauthbearer.assertion.claim.iss string - 4.1 -
broker sasl.oauthbearer.assertion.claim.jti.include boolean - 4.1 -
broker sasl.oauthbearer.assertion.claim.nbf.seconds int 0..3600 4.1 -
broker sasl.oauthbearer.assertion.claim.sub string - 4.1 -
broker sasl.oauthbearer.assertion.file string - 4.1 -
broker sasl.oauthbearer.assertion.private.key.file string - 4.1 -
broker sasl.oauthbearer.assertion.private.key.passphrase password - 4.1 -
broker sasl.oauthbearer.assertion.template.file string - 4.1 -
broker sasl.oauthbearer.client.credentials.client.id string - 4.1 -
broker sasl.oauthbearer.client.credentials.client.secret password - 4.1 -
broker sasl.oauthbearer.clock.skew.seconds int - 3.1 -
broker sasl.oauthbearer.expected.audience list , 4.2 - list - 3.1 4.2
broker sasl.oauthbearer.expected.issuer string - 3.1 -
broker sasl.oauthbearer.jwks.endpoint.refresh.ms long - 3.1 -
broker sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms long - 3.1 -
broker sasl.oauthbearer.jwks.endpoint.retry.backoff.ms long - 3.1 -
broker sasl.oauthbearer.jwks.endpoint.url string - 3.1 -
broker sasl.oauthbearer.jwt.retriever.class class - 4.1 -
broker sasl.oauthbearer.jwt.validator.class class - 4.1 -
broker sasl.oauthbearer.scope string - 4.1 -
broker sasl.oauthbearer.scope.claim.name string - 3.1 -
broker sasl.oauthbearer.sub.claim.name string - 3.1 -
broker sasl.oauthbearer.token.endpoint.url string - 3.1 -
broker sasl.server.callback.handler.class class - 2.0 -
broker sasl.server.max.receive.size int - 2.8 -
broker security.inter.broker.protocol string - 0.10.2 3.3 string PLAINTEXT|SSL|SASL_PLAINTEXT|SASL_SSL 3.3 -
broker security.providers string - 2.4 -
broker server.max.startup.time.ms long 0.. 3.5 -
broker share.coordinator.append.linger.ms int -1.. 4.2 - int 0.. 4.0 4.2
broker share.coordinator.cached.buffer.max.bytes int 524288.. 4.3 -
broker share.coordinator.cold.partition.snapshot.interval.ms int 1.. 4.1 -
broker share.coordinator.load.buffer.size int 1.. 4.0 -
broker share.coordinator.snapshot.update.records.per.snapshot int 0.. 4.0 4.3 int 0..500 4.3 -
broker share.coordinator.state.topic.compression.codec int - 4.0 -
broker share.coordinator.state.topic.min.isr short 1.. 4.0 -
broker share.coordinator.state.topic.num.partitions int 1.. 4.0 -
broker share.coordinator.state.topic.prune.interval.ms int 1.. 4.0 -
broker share.coordinator.state.topic.replication.factor short 1.. 4.0 -
broker share.coordinator.state.topic.segment.bytes int 1.. 4.0 -
broker share.coordinator.threads int 1.. 4.0 -
broker share.coordinator.write.timeout.ms int 1.. 4.0 -
broker share.fetch.max.fetch.records int - 4.0 4.1
broker share.fetch.purgatory.purge.interval.requests int - 4.0 -
broker socket.connection.setup.timeout.max.ms long - 2.7 -
broker socket.connection.setup.timeout.ms long - 2.7 -
broker socket.listen.backlog.size int 1.. 3.2 -
broker socket.receive.buffer.bytes int - 0.10.2 -
broker socket.request.max.bytes int 1.. 0.10.2 -
broker socket.send.buffer.bytes int - 0.10.2 -
broker ssl.allow.dn.changes boolean - 3.7 -
broker ssl.allow.san.changes boolean - 3.7 -
broker ssl.cipher.suites list , 4.2 - list - 0.10.2 4.2
broker ssl.client.auth string required|requested|none 0.10.2 -
broker ssl.enabled.protocols list , 4.2 - list - 0.10.2 4.2
broker ssl.endpoint.identification.algorithm string - 0.10.2 -
broker ssl.engine.factory.class class - 2.6 -
broker ssl.key.password password - 0.10.2 -
broker ssl.keymanager.algorithm string - 0.10.2 -
broker ssl.keystore.certificate.chain password - 2.7 -
broker ssl.keystore.key password - 2.7 -
broker ssl.keystore.location string - 0.10.2 -
broker ssl.keystore.password password - 0.10.2 -
broker ssl.keystore.type string - 0.10.2 -
broker ssl.principal.mapping.rules list - 2.2 2.4 string - 2.4 -
broker ssl.protocol string - 0.10.2 -
broker ssl.provider string - 0.10.2 -
broker ssl.secure.random.implementation string - 0.10.2 -
broker ssl.trustmanager.algorithm string - 0.10.2 -
broker ssl.truststore.certificates password - 2.7 -
broker ssl.truststore.location string - 0.10.2 -
broker ssl.truststore.password password - 0.10.2 -
broker ssl.truststore.type string - 0.10.2 -
broker telemetry.max.bytes int 1.. 3.7 -
broker transaction.abort.timed.out.transaction.cleanup.interval.ms int 1.. 0.11.0 -
broker transaction.max.timeout.ms int 1.. 0.11.0 -
broker transaction.partition.verification.enable boolean - 3.6 -
broker transaction.remove.expired.transaction.cleanup.interval.ms int 1.. 0.11.0 -
broker transaction.state.log.load.buffer.size int 1.. 0.11.0 -
broker transaction.state.log.min.isr int 1.. 0.11.0 -
broker transaction.state.log.num.partitions int 1.. 0.11.0 -
broker transaction.state.log.replication.factor short 1.. 0.11.0 -
broker transaction.state.log.segment.bytes int 1.. 0.11.0 -
broker transaction.two.phase.commit.enable boolean - 4.1 -
broker transactional.id.expiration.ms int 1.. 0.11.0 -
broker unclean.leader.election.enable boolean - 0.10.2 -
broker unclean.leader.election.interval.ms long 1.. 3.9 -
broker unstable.api.versions.enable boolean - 3.5 -
broker unstable.feature.versions.enable boolean - 3.8 -
broker unstable.metadata.versions.enable boolean - 3.7 3.8
broker zookeeper.clientCnxnSocket string - 2.5 4.0
broker zookeeper.connect string - 0.10.2 4.0
broker zookeeper.connection.timeout.ms int - 0.10.2 4.0
broker zookeeper.max.in.flight.requests int 1.. 1.1 4.0
broker zookeeper.metadata.migration.enable boolean - 3.4 4.0
broker zookeeper.metadata.migration.min.batch.size int 1.. 3.6 4.0
broker zookeeper.session.timeout.ms int - 0.10.2 4.0
broker zookeeper.set.acl boolean - 0.10.2 4.0
broker zookeeper.ssl.cipher.suites list - 2.5 4.0
broker zookeeper.ssl.client.enable boolean - 2.5 4.0
broker zookeeper.ssl.crl.enable boolean - 2.5 4.0
broker zookeeper.ssl.enabled.protocols list - 2.5 4.0
broker zookeeper.ssl.endpoint.identification.algorithm string - 2.5 4.0
broker zookeeper.ssl.keystore.location string - 2.5 4.0
broker zookeeper.ssl.keystore.password password - 2.5 4.0
broker zookeeper.ssl.keystore.type string - 2.5 4.0
broker zookeeper.ssl.ocsp.enable boolean - 2.5 4.0
broker zookeeper.ssl.protocol string - 2.5 4.0
broker zookeeper.ssl.truststore.location string - 2.5 4.0
broker zookeeper.ssl.truststore.password password - 2.5 4.0
broker zookeeper.ssl.truststore.type string - 2.5 4.0
broker zookeeper.sync.time.ms int - 0.10.2 3.2
class authorizer.class.name kafka.security.auth.SimpleAclAuthorizer - 0.10.2 3.0 kafka.security.auth.SimpleAclAuthorizer$BaseAuthorizer - 2.4 3.0 kafka.security.authorizer.AclAuthorizer - 2.4 4.0 org.apache.kafka.metadata.authorizer.StandardAuthorizer - 3.2 -
class callback.handler.class org.apache.kafka.common.security.authenticator.AbstractLogin$DefaultLoginCallbackHandler - 2.0 - org.apache.kafka.common.security.authenticator.SaslClientCallbackHandler - 2.0 - org.apache.kafka.common.security.authenticator.SaslServerCallbackHandler - 2.0 - org.apache.kafka.common.security.kerberos.KerberosClientCallbackHandler - 2.0 - org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler - 3.4 - org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler - 3.4 - org.apache.kafka.common.security.oauthbearer.internals.OAuthBearerSaslClientCallbackHandler - 2.0 - org.apache.kafka.common.security.oauthbearer.internals.unsecured.OAuthBearerUnsecuredLoginCallbackHandler - 2.0 - org.apache.kafka.common.security.oauthbearer.internals.unsecured.OAuthBearerUnsecuredValidatorCallbackHandler - 2.0 - org.apache.kafka.common.security.oauthbearer.secured.OAuthBearerLoginCallbackHandler - 3.1 4.0 org.apache.kafka.common.security.oauthbearer.secured.OAuthBearerValidatorCallbackHandler - 3.1 4.0 org.apache.kafka.common.security.plain.internals.PlainServerCallbackHandler - 2.0 -
class config.providers org.apache.kafka.common.config.provider.DirectoryConfigProvider - 2.7 - org.apache.kafka.common.config.provider.EnvVarConfigProvider - 3.5 - org.apache.kafka.common.config.provider.FileConfigProvider - 2.0 -
class group.consumer.assignors org.apache.kafka.coordinator.group.assignor.RangeAssignor - 3.6 - org.apache.kafka.coordinator.group.assignor.SimpleAssignor - 3.9 - org.apache.kafka.coordinator.group.assignor.UniformAssignor - 3.7 -
class group.share.assignors org.apache.kafka.coordinator.group.assignor.SimpleAssignor - 3.9 -
class kafka.metrics.reporters kafka.metrics.KafkaCSVMetricsReporter - 0.10.2 -
class metric.reporters org.apache.kafka.common.metrics.JmxReporter - 0.10.2 - org.apache.kafka.tools.PushHttpMetricsReporter - 0.11.0 -
class principal.builder.class org.apache.kafka.common.security.auth.DefaultPrincipalBuilder - 0.10.2 3.0 org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder - 1.0 -
class remote.log.metadata.manager.class.name org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager - 3.1 -
class replica.selector.class org.apache.kafka.common.replica.RackAwareReplicaSelector - 2.4 -
class sasl.jaas.config org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule - 2.0 - org.apache.kafka.common.security.plain.PlainLoginModule - 0.10.2 - org.apache.kafka.common.security.scram.ScramLoginModule - 0.10.2 -
class sasl.login.class org.apache.kafka.common.security.authenticator.DefaultLogin - 0.10.2 1.0 org.apache.kafka.common.security.authenticator.DefaultLogin - 2.0 - org.apache.kafka.common.security.kerberos.KerberosLogin - 0.10.2 1.0 org.apache.kafka.common.security.kerberos.KerberosLogin - 2.0 - org.apache.kafka.common.security.oauthbearer.internals.OAuthBearerRefreshingLogin - 2.0 -
class ssl.engine.factory.class org.apache.kafka.common.security.ssl.CommonNameLoggingSslEngineFactory - 3.7 - org.apache.kafka.common.security.ssl.DefaultSslEngineFactory - 2.6 -
topic cleanup.policy list compact|delete 0.10.2 -
topic compression.gzip.level int 1..9|-1 3.8 -
topic compression.lz4.level int 1..17 3.8 -
topic compression.type string uncompressed|snappy|lz4|gzip|producer 0.10.2 2.1
topic compression.type string uncompressed|zstd|lz4|snappy|gzip|producer 2.1 -
topic compression.zstd.level int -131072..22 3.8 -
topic delete.retention.ms long 0.. 0.10.2 -
topic file.delete.delay.ms long 0.. 0.10.2 -
topic flush.messages long 0.. 0.10.2 3.3 long 1.. 3.3 -
topic flush.ms long 0.. 0.10.2 -
topic follower.replication.throttled.replicas list - 0.10.2 -
topic index.interval.bytes int 0.. 0.10.2 -
topic internal.segment.bytes int - 4.1 -
topic leader.replication.throttled.replicas list - 0.10.2 -
topic local.retention.bytes long -2.. 3.0 -
topic local.retention.ms long -2.. 3.0 -
topic max.compaction.lag.ms long 1.. 2.3 -
topic max.message.bytes int 0.. 0.10.2 -
topic message.downconversion.enable boolean - 2.0 4.0
topic message.format.version string - 0.10.2 4.0
topic message.timestamp.after.max.ms long 0.. 3.6 -
topic message.timestamp.before.max.ms long 0.. 3.6 -
topic message.timestamp.difference.max.ms long 0.. 0.10.2 4.0
topic message.timestamp.type string - 0.10.2 2.0 string CreateTime|LogAppendTime 2.0 -
topic min.cleanable.dirty.ratio double 0..1 0.10.2 -
topic min.compaction.lag.ms long 0.. 0.10.2 -
topic min.insync.replicas int 1.. 0.10.2 -
topic preallocate boolean - 0.10.2 -
topic remote.log.copy.disable boolean - 3.9 -
topic remote.log.delete.on.disable boolean - 3.9 -
topic remote.storage.enable boolean - 3.0 -
topic retention.bytes long - 0.10.2 -
topic retention.ms long - 0.10.2 2.2 long -1.. 2.2 -
topic segment.bytes int 1048576.. 4.1 - int 14.. 0.10.2 4.1
topic segment.index.bytes int 0.. 0.10.2 3.3 int 4.. 3.3 -
topic segment.jitter.ms long 0.. 0.10.2 -
topic segment.ms long 0.. 0.10.2 2.0 long 1.. 2.0 -
topic unclean.leader.election.enable boolean - 0.10.2 -
"""  # noqa: E501 - names of classes
