-- The tasks of a column of the board. It is one statement, so that it runs beside writers.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "task_workflow_step_id_idx" ON "task"("workflow_step_id");
