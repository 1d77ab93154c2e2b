-- Only completion releases a dependency. Earlier builds let every end do so: what they had released goes on, and would be held again by
-- a dependency that nobody can fulfil. Such dependencies are removed as an operator would remove them, and what is queued there is
-- announced again. A task that is still blocked waits by the new rule, and says for what.
WITH "removed" AS (
  DELETE FROM "task_dependency" d USING "task" t, "task" b
  WHERE t."id" = d."task_id" AND b."id" = d."blocked_by_id"
    AND b."state" IN ('failed', 'cancelled') AND t."state" IN ('ready', 'in_progress', 'waiting', 'review')
  RETURNING t."workspace_id", d."task_id", d."blocked_by_id"
), "woken" AS (
  -- Whoever claims one of them in vain takes the mark away again.
  UPDATE "session" s SET "runnable" = true, "announced_at" = NULL, "announcements" = 0
  WHERE s."task_id" IN (SELECT "task_id" FROM "removed") AND s."ended_at" IS NULL AND s."lease_owner" IS NULL AND s."auto_run"
    AND EXISTS (SELECT FROM "queue_entry" e WHERE e."session_id" = s."id" AND e."state" = 'queued')
)
INSERT INTO "audit" ("id", "workspace_id", "actor", "action", "subject", "detail")
SELECT gen_random_uuid(), "workspace_id", 'system', 'task.remove_dependency', "task_id"::text,
  jsonb_build_object('depends_on', "blocked_by_id", 'reason', 'it had released the task before the upgrade')
FROM "removed";
