-- A turn that is purged takes its token along. It is one statement, so that it runs beside writers.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "api_token_turn" ON "api_token" ("turn_id") WHERE "turn_id" IS NOT NULL;
