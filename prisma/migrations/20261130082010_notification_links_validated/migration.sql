-- Reads what the links before it left unread, while others write.
ALTER TABLE "operator_notification" VALIDATE CONSTRAINT "operator_notification_task_fkey";
ALTER TABLE "operator_notification" VALIDATE CONSTRAINT "operator_notification_session_fkey";
