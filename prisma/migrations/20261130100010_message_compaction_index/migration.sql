-- Where a session's history begins: its last compaction. It is one statement, so that it runs beside writers.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "message_compaction" ON "message" ("session_id", "sequence") WHERE "type" = 'compaction';
