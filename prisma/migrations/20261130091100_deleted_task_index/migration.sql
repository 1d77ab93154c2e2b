-- What the purge looks for; it does not grow with what is kept. It is one statement, so that it runs beside writers.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "task_deleted" ON "task" ("deleted_at") WHERE "deleted_at" IS NOT NULL;
