-- Reads what the workflow's link left unread, while others write.
ALTER TABLE "queue_entry" VALIDATE CONSTRAINT "queue_entry_workflow_step_fkey";
