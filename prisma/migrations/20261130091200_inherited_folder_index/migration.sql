-- Who else uses a folder that a deleted task leaves. It is one statement, so that it runs beside writers.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "task_inherited_folder" ON "task" ("folder") WHERE "workspace_mode" = 'inherit_parent';
