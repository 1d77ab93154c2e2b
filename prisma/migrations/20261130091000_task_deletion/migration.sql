-- Deletion: a mark that hides a task and its sessions at once; their rows go later, in batches (operations.md, Deletion).

-- AlterTable
ALTER TABLE "task" ADD COLUMN "deleted_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "session" ADD COLUMN "deleted_at" TIMESTAMPTZ(3);

-- What the purge looks for, and who else uses a folder; none of them grows with what is kept.
CREATE INDEX "task_deleted" ON "task" ("deleted_at") WHERE "deleted_at" IS NOT NULL;
CREATE INDEX "task_inherited_folder" ON "task" ("folder") WHERE "workspace_mode" = 'inherit_parent';
-- A repeated deletion is answered from what was recorded of the first.
CREATE INDEX "audit_task_deletion" ON "audit" ("subject") WHERE "action" = 'task.delete';
