-- Whose notifications go with a deleted task. It is one statement, so that it runs beside writers.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "operator_notification_task_id_idx" ON "operator_notification"("task_id");
