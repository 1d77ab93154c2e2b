-- Reads what the workflow's link left unread, while others write.
ALTER TABLE "turn" VALIDATE CONSTRAINT "turn_deferred_step_fkey";
