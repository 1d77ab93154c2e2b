-- What retention looks for: turns that are over and still hold the text of their requests (operations.md, Retention). It is one statement, so that it runs beside writers.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "turn_request_kept" ON "turn" ("ended_at") WHERE "status" = 'finished' AND "system_prompt" IS NOT NULL;
