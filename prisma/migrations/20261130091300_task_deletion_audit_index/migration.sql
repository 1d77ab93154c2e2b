-- A repeated deletion is answered from what was recorded of the first. It is one statement, so that it runs beside writers.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "audit_task_deletion" ON "audit" ("subject") WHERE "action" = 'task.delete';
