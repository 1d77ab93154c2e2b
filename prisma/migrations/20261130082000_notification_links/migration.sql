-- No notification links to a task or session of another workspace (operations.md, Trust).

-- AddForeignKey
ALTER TABLE "operator_notification" ADD CONSTRAINT "operator_notification_task_fkey" FOREIGN KEY ("workspace_id", "task_id") REFERENCES "task"("workspace_id", "id") ON DELETE CASCADE ON UPDATE CASCADE NOT VALID;

-- AddForeignKey
ALTER TABLE "operator_notification" ADD CONSTRAINT "operator_notification_session_fkey" FOREIGN KEY ("workspace_id", "session_id") REFERENCES "session"("workspace_id", "id") ON DELETE CASCADE ON UPDATE CASCADE NOT VALID;
