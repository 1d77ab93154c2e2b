-- Deletion: a mark that hides a task and its sessions at once; their rows go later, in batches (operations.md, Deletion).

-- AlterTable
ALTER TABLE "task" ADD COLUMN "deleted_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "session" ADD COLUMN "deleted_at" TIMESTAMPTZ(3);
