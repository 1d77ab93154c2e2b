-- A task's plan: one text a task, compared by revision. What a call under a key wrote is remembered, so that its retry changes nothing (K16).

-- CreateTable
CREATE TABLE "task_plan" (
    "task_id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "title" TEXT NOT NULL,
    "content" TEXT,
    "revision" INTEGER NOT NULL DEFAULT 1,
    "updated_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "task_plan_pkey" PRIMARY KEY ("task_id")
);

-- CreateTable
CREATE TABLE "task_plan_write" (
    "task_id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "key_hash" BYTEA NOT NULL,
    "body_hash" BYTEA NOT NULL,
    "revision" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "task_plan_write_pkey" PRIMARY KEY ("task_id","key_hash")
);

-- AddForeignKey
ALTER TABLE "task_plan" ADD CONSTRAINT "task_plan_task_fkey" FOREIGN KEY ("workspace_id", "task_id") REFERENCES "task"("workspace_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "task_plan_write" ADD CONSTRAINT "task_plan_write_task_fkey" FOREIGN KEY ("workspace_id", "task_id") REFERENCES "task"("workspace_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;
