-- Reads what the workflow's link left unread, while others write.
ALTER TABLE "task" VALIDATE CONSTRAINT "task_workflow_step_fkey";
