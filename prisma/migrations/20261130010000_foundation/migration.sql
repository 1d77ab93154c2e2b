-- The foundation: generated from prisma/schema.prisma, then the constraints that Prisma cannot say (below the line).


-- CreateTable
CREATE TABLE "workspace" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "workspace_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "operator" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "operator_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "api_token" (
    "id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "token_hash" BYTEA NOT NULL,
    "label" TEXT NOT NULL,
    "operator_id" UUID,
    "workspace_id" UUID,
    "session_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),

    CONSTRAINT "api_token_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "agent_profile" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "runtime" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "model" TEXT NOT NULL,
    "system_prompt" TEXT NOT NULL DEFAULT '',
    "max_output_tokens" INTEGER,
    "fallback_models" JSONB NOT NULL DEFAULT '[]',
    "budgets" JSONB NOT NULL DEFAULT '{}',
    "permission_policy" JSONB NOT NULL DEFAULT '{}',
    "parent_question_timeout_seconds" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "archived_at" TIMESTAMPTZ(3),

    CONSTRAINT "agent_profile_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "task" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "parent_id" UUID,
    "depth" INTEGER NOT NULL DEFAULT 0,
    "title" TEXT NOT NULL,
    "title_source" TEXT NOT NULL DEFAULT 'provisional',
    "title_revision" INTEGER NOT NULL DEFAULT 0,
    "prompt" TEXT NOT NULL,
    "autopilot" BOOLEAN NOT NULL DEFAULT false,
    "state" TEXT NOT NULL,
    "profile_id" UUID NOT NULL,
    "workspace_mode" TEXT NOT NULL DEFAULT 'new_workspace',
    "folder" TEXT NOT NULL,
    "workflow_step_id" UUID,
    "start_when_unblocked" BOOLEAN NOT NULL DEFAULT true,
    "budgets" JSONB NOT NULL DEFAULT '{}',
    "open_children" INTEGER NOT NULL DEFAULT 0,
    "child_set" INTEGER NOT NULL DEFAULT 0,
    "stopping" BOOLEAN NOT NULL DEFAULT false,
    "result" TEXT,
    "idempotency_scope" TEXT,
    "idempotency_key_hash" BYTEA,
    "idempotency_body_hash" BYTEA,
    "created_by_session_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ended_at" TIMESTAMPTZ(3),
    "archived_at" TIMESTAMPTZ(3),

    CONSTRAINT "task_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "task_dependency" (
    "task_id" UUID NOT NULL,
    "blocked_by_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "task_dependency_pkey" PRIMARY KEY ("task_id","blocked_by_id")
);

-- CreateTable
CREATE TABLE "workflow" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "workflow_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "workflow_step" (
    "id" UUID NOT NULL,
    "workflow_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "on_turn_complete" TEXT NOT NULL DEFAULT 'rest',
    "requires_signal" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "workflow_step_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "session" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "task_id" UUID NOT NULL,
    "kind" TEXT NOT NULL DEFAULT 'task',
    "name" TEXT NOT NULL DEFAULT '',
    "state" TEXT NOT NULL DEFAULT 'created',
    "is_primary" BOOLEAN NOT NULL DEFAULT false,
    "runtime" TEXT NOT NULL,
    "profile_id" UUID NOT NULL,
    "auto_run" BOOLEAN NOT NULL DEFAULT true,
    "lease_owner" TEXT,
    "lease_presence" BIGINT,
    "lease_epoch" BIGINT NOT NULL DEFAULT 0,
    "lease_until" TIMESTAMPTZ(3),
    "runnable" BOOLEAN NOT NULL DEFAULT false,
    "wake_at" TIMESTAMPTZ(3),
    "announced_at" TIMESTAMPTZ(3),
    "announcements" INTEGER NOT NULL DEFAULT 0,
    "next_sequence" INTEGER NOT NULL DEFAULT 1,
    "next_order" INTEGER NOT NULL DEFAULT 1,
    "next_turn" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "session_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "turn" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "session_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'preparing',
    "opening_entry_id" UUID NOT NULL,
    "contract" JSONB,
    "system_prompt" TEXT,
    "admission_open" BOOLEAN NOT NULL DEFAULT true,
    "stop_requested_at" TIMESTAMPTZ(3),
    "ended_by_question_id" UUID,
    "completion_signal" JSONB,
    "parked_for" TEXT,
    "involuntary_resumes" INTEGER NOT NULL DEFAULT 0,
    "resume_at" TIMESTAMPTZ(3),
    "last_barrier_at" TIMESTAMPTZ(3),
    "outcome" TEXT,
    "outcome_detail" TEXT,
    "finish_reason" TEXT,
    "raw_finish_reason" TEXT,
    "counters" JSONB,
    "rounds" INTEGER NOT NULL DEFAULT 0,
    "input_tokens" INTEGER NOT NULL DEFAULT 0,
    "output_tokens" INTEGER NOT NULL DEFAULT 0,
    "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "turn_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "queue_entry" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "session_id" UUID NOT NULL,
    "rank" SMALLINT NOT NULL,
    "order" INTEGER NOT NULL,
    "kind" TEXT NOT NULL,
    "text" TEXT NOT NULL,
    "sender_kind" TEXT NOT NULL,
    "sender_task_id" UUID,
    "sender_session_id" UUID,
    "question_id" UUID,
    "delivery_mode" TEXT NOT NULL DEFAULT 'queued',
    "idempotency_scope" TEXT,
    "idempotency_key_hash" BYTEA,
    "idempotency_body_hash" BYTEA,
    "state" TEXT NOT NULL DEFAULT 'queued',
    "cause" TEXT,
    "turn_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "settled_at" TIMESTAMPTZ(3),

    CONSTRAINT "queue_entry_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "message" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "session_id" UUID NOT NULL,
    "sequence" INTEGER NOT NULL,
    "turn_id" UUID,
    "thread_id" UUID,
    "type" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "content" TEXT NOT NULL,
    "metadata" JSONB NOT NULL DEFAULT '{}',
    "hidden" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "message_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "model_request" (
    "id" UUID NOT NULL,
    "session_id" UUID NOT NULL,
    "turn_id" UUID NOT NULL,
    "round" INTEGER NOT NULL,
    "state" TEXT NOT NULL,
    "model" TEXT NOT NULL,
    "through_sequence" INTEGER NOT NULL,
    "finish_reason" TEXT,
    "raw_finish_reason" TEXT,
    "input_tokens" INTEGER,
    "output_tokens" INTEGER,
    "cached_tokens" INTEGER,
    "reasoning_tokens" INTEGER,
    "failure" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "settled_at" TIMESTAMPTZ(3),

    CONSTRAINT "model_request_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "tool_call" (
    "id" UUID NOT NULL,
    "session_id" UUID NOT NULL,
    "turn_id" UUID NOT NULL,
    "thread_id" UUID,
    "round" INTEGER NOT NULL,
    "index" INTEGER NOT NULL,
    "call_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "arguments" TEXT NOT NULL,
    "effect" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "result" TEXT,
    "is_error" BOOLEAN,
    "process" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "intent_at" TIMESTAMPTZ(3),
    "settled_at" TIMESTAMPTZ(3),

    CONSTRAINT "tool_call_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "approval" (
    "id" UUID NOT NULL,
    "session_id" UUID NOT NULL,
    "turn_id" UUID NOT NULL,
    "tool_call_id" UUID NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'pending',
    "request" JSONB NOT NULL DEFAULT '{}',
    "decided_by" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3),
    "decided_at" TIMESTAMPTZ(3),

    CONSTRAINT "approval_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "tool_list" (
    "hash" BYTEA NOT NULL,
    "specifications" TEXT NOT NULL,

    CONSTRAINT "tool_list_pkey" PRIMARY KEY ("hash")
);

-- CreateTable
CREATE TABLE "artifact" (
    "id" UUID NOT NULL,
    "session_id" UUID NOT NULL,
    "turn_id" UUID NOT NULL,
    "call_id" TEXT NOT NULL,
    "content" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "artifact_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "outbox" (
    "id" UUID NOT NULL,
    "session_id" UUID NOT NULL,
    "priority" SMALLINT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "outbox_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "event" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "position" BIGINT,
    "type" TEXT NOT NULL,
    "task_id" UUID,
    "session_id" UUID,
    "payload" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "event_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "worker" (
    "id" UUID NOT NULL,
    "presence" BIGINT NOT NULL,
    "host" TEXT NOT NULL,
    "pid" INTEGER NOT NULL,
    "build" INTEGER NOT NULL,
    "slots" INTEGER NOT NULL,
    "fetched_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "worker_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "idempotency_record" (
    "token_id" UUID NOT NULL,
    "key_hash" BYTEA NOT NULL,
    "body_hash" BYTEA NOT NULL,
    "status" INTEGER,
    "response" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "idempotency_record_pkey" PRIMARY KEY ("token_id","key_hash")
);

-- CreateTable
CREATE TABLE "audit" (
    "id" UUID NOT NULL,
    "workspace_id" UUID,
    "actor" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "detail" JSONB NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "audit_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "setting" (
    "key" TEXT NOT NULL,
    "value" JSONB NOT NULL,

    CONSTRAINT "setting_pkey" PRIMARY KEY ("key")
);

-- CreateIndex
CREATE UNIQUE INDEX "workspace_name_key" ON "workspace"("name");

-- CreateIndex
CREATE UNIQUE INDEX "operator_name_key" ON "operator"("name");

-- CreateIndex
CREATE UNIQUE INDEX "api_token_token_hash_key" ON "api_token"("token_hash");

-- CreateIndex
CREATE INDEX "api_token_session_id_idx" ON "api_token"("session_id");

-- CreateIndex
CREATE UNIQUE INDEX "agent_profile_workspace_id_id_key" ON "agent_profile"("workspace_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "agent_profile_workspace_id_name_key" ON "agent_profile"("workspace_id", "name");

-- CreateIndex
CREATE INDEX "task_workspace_id_created_at_id_idx" ON "task"("workspace_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "task_parent_id_idx" ON "task"("parent_id");

-- CreateIndex
CREATE UNIQUE INDEX "task_workspace_id_id_key" ON "task"("workspace_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "task_idempotency_scope_idempotency_key_hash_key" ON "task"("idempotency_scope", "idempotency_key_hash");

-- CreateIndex
CREATE INDEX "task_dependency_blocked_by_id_idx" ON "task_dependency"("blocked_by_id");

-- CreateIndex
CREATE UNIQUE INDEX "workflow_workspace_id_name_key" ON "workflow"("workspace_id", "name");

-- CreateIndex
CREATE UNIQUE INDEX "workflow_step_workflow_id_position_key" ON "workflow_step"("workflow_id", "position");

-- CreateIndex
CREATE INDEX "session_task_id_created_at_idx" ON "session"("task_id", "created_at");

-- CreateIndex
CREATE UNIQUE INDEX "session_workspace_id_id_key" ON "session"("workspace_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "turn_opening_entry_id_key" ON "turn"("opening_entry_id");

-- CreateIndex
CREATE UNIQUE INDEX "turn_session_id_number_key" ON "turn"("session_id", "number");

-- CreateIndex
CREATE INDEX "queue_entry_question_id_idx" ON "queue_entry"("question_id");

-- CreateIndex
CREATE UNIQUE INDEX "queue_entry_session_id_order_key" ON "queue_entry"("session_id", "order");

-- CreateIndex
CREATE UNIQUE INDEX "queue_entry_idempotency_scope_idempotency_key_hash_key" ON "queue_entry"("idempotency_scope", "idempotency_key_hash");

-- CreateIndex
CREATE INDEX "message_turn_id_idx" ON "message"("turn_id");

-- CreateIndex
CREATE UNIQUE INDEX "message_session_id_sequence_key" ON "message"("session_id", "sequence");

-- CreateIndex
CREATE INDEX "model_request_turn_id_round_idx" ON "model_request"("turn_id", "round");

-- CreateIndex
CREATE INDEX "tool_call_turn_id_round_idx" ON "tool_call"("turn_id", "round");

-- CreateIndex
CREATE INDEX "approval_turn_id_idx" ON "approval"("turn_id");

-- CreateIndex
CREATE UNIQUE INDEX "artifact_session_id_call_id_key" ON "artifact"("session_id", "call_id");

-- CreateIndex
CREATE INDEX "outbox_created_at_idx" ON "outbox"("created_at");

-- CreateIndex
CREATE UNIQUE INDEX "event_position_key" ON "event"("position");

-- CreateIndex
CREATE INDEX "event_created_at_idx" ON "event"("created_at");

-- CreateIndex
CREATE UNIQUE INDEX "worker_presence_key" ON "worker"("presence");

-- CreateIndex
CREATE INDEX "audit_created_at_idx" ON "audit"("created_at");

-- AddForeignKey
ALTER TABLE "api_token" ADD CONSTRAINT "api_token_operator_id_fkey" FOREIGN KEY ("operator_id") REFERENCES "operator"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_token" ADD CONSTRAINT "api_token_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_token" ADD CONSTRAINT "api_token_session_fkey" FOREIGN KEY ("workspace_id", "session_id") REFERENCES "session"("workspace_id", "id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agent_profile" ADD CONSTRAINT "agent_profile_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "task" ADD CONSTRAINT "task_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "task" ADD CONSTRAINT "task_profile_fkey" FOREIGN KEY ("workspace_id", "profile_id") REFERENCES "agent_profile"("workspace_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "task" ADD CONSTRAINT "task_parent_fkey" FOREIGN KEY ("workspace_id", "parent_id") REFERENCES "task"("workspace_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "task" ADD CONSTRAINT "task_workflow_step_id_fkey" FOREIGN KEY ("workflow_step_id") REFERENCES "workflow_step"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "task_dependency" ADD CONSTRAINT "task_dependency_task_id_fkey" FOREIGN KEY ("task_id") REFERENCES "task"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "task_dependency" ADD CONSTRAINT "task_dependency_blocked_by_id_fkey" FOREIGN KEY ("blocked_by_id") REFERENCES "task"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "workflow" ADD CONSTRAINT "workflow_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "workflow_step" ADD CONSTRAINT "workflow_step_workflow_id_fkey" FOREIGN KEY ("workflow_id") REFERENCES "workflow"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "session" ADD CONSTRAINT "session_task_fkey" FOREIGN KEY ("workspace_id", "task_id") REFERENCES "task"("workspace_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "session" ADD CONSTRAINT "session_profile_fkey" FOREIGN KEY ("workspace_id", "profile_id") REFERENCES "agent_profile"("workspace_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "turn" ADD CONSTRAINT "turn_session_fkey" FOREIGN KEY ("workspace_id", "session_id") REFERENCES "session"("workspace_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "queue_entry" ADD CONSTRAINT "queue_entry_session_fkey" FOREIGN KEY ("workspace_id", "session_id") REFERENCES "session"("workspace_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "message" ADD CONSTRAINT "message_session_fkey" FOREIGN KEY ("workspace_id", "session_id") REFERENCES "session"("workspace_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "model_request" ADD CONSTRAINT "model_request_turn_id_fkey" FOREIGN KEY ("turn_id") REFERENCES "turn"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "tool_call" ADD CONSTRAINT "tool_call_turn_id_fkey" FOREIGN KEY ("turn_id") REFERENCES "turn"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "event" ADD CONSTRAINT "event_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE RESTRICT ON UPDATE CASCADE;



-- ---------------------------------------------------------------------------------------------------------------------
-- States: each list is the one of the domain's machine (compared by a spec).

ALTER TABLE "task" ADD CONSTRAINT "task_state_check" CHECK ("state" IN ('blocked', 'ready', 'in_progress', 'waiting', 'review', 'completed', 'failed', 'cancelled'));
ALTER TABLE "task" ADD CONSTRAINT "task_title_source_check" CHECK ("title_source" IN ('provisional', 'generated', 'manual'));
ALTER TABLE "task" ADD CONSTRAINT "task_workspace_mode_check" CHECK ("workspace_mode" IN ('inherit_parent', 'new_workspace'));
ALTER TABLE "task" ADD CONSTRAINT "task_open_children_check" CHECK ("open_children" >= 0);
ALTER TABLE "task_dependency" ADD CONSTRAINT "task_dependency_self_check" CHECK ("task_id" <> "blocked_by_id");
ALTER TABLE "agent_profile" ADD CONSTRAINT "agent_profile_runtime_check" CHECK ("runtime" IN ('loop', 'external', 'passthrough'));
ALTER TABLE "session" ADD CONSTRAINT "session_state_check" CHECK ("state" IN ('created', 'running', 'idle', 'waiting_for_input', 'parked', 'completed', 'failed', 'cancelled'));
ALTER TABLE "session" ADD CONSTRAINT "session_kind_check" CHECK ("kind" IN ('task', 'quick_chat', 'config', 'utility'));
ALTER TABLE "session" ADD CONSTRAINT "session_lease_check" CHECK (("lease_owner" IS NULL) = ("lease_until" IS NULL));
-- A session without a lease does not run (autopilot-contract.md §9, 4).
ALTER TABLE "session" ADD CONSTRAINT "session_running_check" CHECK ("state" <> 'running' OR "lease_owner" IS NOT NULL);
ALTER TABLE "turn" ADD CONSTRAINT "turn_status_check" CHECK ("status" IN ('preparing', 'running', 'waiting_approval', 'waiting_user', 'waiting_retry', 'stopping', 'finishing', 'finished'));
ALTER TABLE "turn" ADD CONSTRAINT "turn_outcome_check" CHECK (("status" = 'finished') = ("outcome" IS NOT NULL));
ALTER TABLE "queue_entry" ADD CONSTRAINT "queue_entry_state_check" CHECK ("state" IN ('queued', 'delivered', 'cancelled', 'failed'));
ALTER TABLE "queue_entry" ADD CONSTRAINT "queue_entry_kind_check" CHECK ("kind" IN ('prompt', 'answer', 'question', 'alert', 'notice', 'reminder'));
ALTER TABLE "queue_entry" ADD CONSTRAINT "queue_entry_sender_check" CHECK ("sender_kind" IN ('operator', 'task', 'system'));
ALTER TABLE "queue_entry" ADD CONSTRAINT "queue_entry_turn_check" CHECK (("state" = 'delivered') = ("turn_id" IS NOT NULL));
ALTER TABLE "message" ADD CONSTRAINT "message_role_check" CHECK ("role" IN ('user', 'assistant', 'tool', 'system'));
ALTER TABLE "message" ADD CONSTRAINT "message_question_check" CHECK ("type" <> 'parent_question' OR "metadata"->>'status' IN ('pending', 'answered', 'superseded', 'stale'));
ALTER TABLE "message" ADD CONSTRAINT "message_user_question_check" CHECK ("type" <> 'user_question' OR "metadata"->>'status' IN ('pending', 'answered', 'rejected', 'expired', 'cancelled'));
ALTER TABLE "model_request" ADD CONSTRAINT "model_request_state_check" CHECK ("state" IN ('prepared', 'sealed', 'abandoned', 'failed'));
ALTER TABLE "tool_call" ADD CONSTRAINT "tool_call_state_check" CHECK ("state" IN ('requested', 'intent', 'done', 'unknown', 'not_executed'));
ALTER TABLE "approval" ADD CONSTRAINT "approval_state_check" CHECK ("state" IN ('pending', 'allowed', 'denied', 'superseded', 'cancelled', 'expired', 'stale'));
ALTER TABLE "api_token" ADD CONSTRAINT "api_token_kind_check" CHECK (("kind" = 'operator' AND "operator_id" IS NOT NULL AND "session_id" IS NULL) OR ("kind" = 'session' AND "session_id" IS NOT NULL AND "workspace_id" IS NOT NULL));

-- At most one of each (autopilot-contract.md §9, 1).
CREATE UNIQUE INDEX "session_one_primary" ON "session" ("task_id") WHERE "is_primary";
CREATE UNIQUE INDEX "turn_one_unfinished" ON "turn" ("session_id") WHERE "status" <> 'finished';
CREATE UNIQUE INDEX "message_one_pending_parent_question" ON "message" ("session_id") WHERE "type" = 'parent_question' AND "metadata"->>'status' = 'pending';
-- One question per key (K16): a retried ask finds the first.
CREATE UNIQUE INDEX "message_parent_question_key" ON "message" ("session_id", ("metadata"->>'idempotency_key')) WHERE "type" = 'parent_question';
CREATE INDEX "message_pending_question_by_parent" ON "message" (("metadata"->>'parent_task_id')) WHERE "type" = 'parent_question' AND "metadata"->>'status' = 'pending';
CREATE UNIQUE INDEX "tool_call_once" ON "tool_call" ("session_id", COALESCE("thread_id", '00000000-0000-0000-0000-000000000000'::uuid), "call_id");
-- One answer per question (§9, 2).
CREATE UNIQUE INDEX "queue_entry_one_answer" ON "queue_entry" ("question_id") WHERE "kind" = 'answer';
-- What the sweep and the drain look for: small partial indexes, so that waiting sessions cost nothing (K10).
CREATE INDEX "session_runnable" ON "session" ("announced_at" NULLS FIRST) WHERE "runnable" AND "lease_owner" IS NULL;
CREATE INDEX "session_leased" ON "session" ("lease_presence", "lease_until") WHERE "lease_owner" IS NOT NULL;
CREATE INDEX "task_stopping" ON "task" ("id") WHERE "stopping";
CREATE INDEX "session_wake_at" ON "session" ("wake_at") WHERE "wake_at" IS NOT NULL;
CREATE INDEX "queue_entry_queued" ON "queue_entry" ("session_id", "rank", "order") WHERE "state" = 'queued';
CREATE INDEX "event_unstamped" ON "event" ("id") WHERE "position" IS NULL;
CREATE INDEX "event_workspace_position" ON "event" ("workspace_id", "position") WHERE "position" IS NOT NULL;

CREATE SEQUENCE "event_position";
CREATE SEQUENCE "worker_presence";

-- The mode of a task is fixed at its creation, whatever the application does (F6).
CREATE FUNCTION "task_autopilot_is_immutable"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW."autopilot" IS DISTINCT FROM OLD."autopilot" THEN
    RAISE EXCEPTION 'task.autopilot is fixed at creation' USING ERRCODE = 'check_violation', CONSTRAINT = 'task_autopilot_immutable';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER "task_autopilot_immutable" BEFORE UPDATE OF "autopilot" ON "task" FOR EACH ROW EXECUTE FUNCTION "task_autopilot_is_immutable"();

-- Parent links are acyclic (§9, 6). Structure changes of a workspace are serialised by the application (K20).
CREATE FUNCTION "task_parents_are_acyclic"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE ancestor uuid := NEW."parent_id";
BEGIN
  WHILE ancestor IS NOT NULL LOOP
    IF ancestor = NEW."id" THEN
      RAISE EXCEPTION 'a task cannot be its own ancestor' USING ERRCODE = 'check_violation', CONSTRAINT = 'task_parent_acyclic';
    END IF;
    SELECT "parent_id" INTO ancestor FROM "task" WHERE "id" = ancestor;
  END LOOP;
  RETURN NEW;
END $$;
CREATE TRIGGER "task_parent_acyclic" BEFORE INSERT OR UPDATE OF "parent_id" ON "task" FOR EACH ROW WHEN (NEW."parent_id" IS NOT NULL) EXECUTE FUNCTION "task_parents_are_acyclic"();

CREATE FUNCTION "task_dependencies_are_acyclic"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (
    WITH RECURSIVE "upstream"("id") AS (
      SELECT NEW."blocked_by_id" UNION SELECT d."blocked_by_id" FROM "task_dependency" d JOIN "upstream" u ON d."task_id" = u."id"
    ) SELECT 1 FROM "upstream" WHERE "id" = NEW."task_id") THEN
    RAISE EXCEPTION 'task dependencies cannot form a cycle' USING ERRCODE = 'check_violation', CONSTRAINT = 'task_dependency_acyclic';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER "task_dependency_acyclic" BEFORE INSERT OR UPDATE ON "task_dependency" FOR EACH ROW EXECUTE FUNCTION "task_dependencies_are_acyclic"();

CREATE FUNCTION "audit_is_append_only"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'audit rows cannot be changed' USING ERRCODE = 'check_violation', CONSTRAINT = 'audit_append_only';
END $$;
CREATE TRIGGER "audit_append_only" BEFORE UPDATE OR DELETE ON "audit" FOR EACH ROW EXECUTE FUNCTION "audit_is_append_only"();

INSERT INTO "setting" ("key", "value") VALUES ('schema.min_worker', '1');
