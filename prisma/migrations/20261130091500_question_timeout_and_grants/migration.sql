-- How long a question to operators waits, and which workspace may send messages into which other one.

-- AlterTable
ALTER TABLE "agent_profile" ADD COLUMN "user_question_timeout_seconds" INTEGER;

-- CreateTable
CREATE TABLE "workspace_grant" (
    "workspace_id" UUID NOT NULL,
    "to_workspace_id" UUID NOT NULL,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "workspace_grant_pkey" PRIMARY KEY ("workspace_id","to_workspace_id")
);

-- AddForeignKey
ALTER TABLE "workspace_grant" ADD CONSTRAINT "workspace_grant_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "workspace_grant" ADD CONSTRAINT "workspace_grant_to_workspace_id_fkey" FOREIGN KEY ("to_workspace_id") REFERENCES "workspace"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- A workspace needs no grant for itself.
ALTER TABLE "workspace_grant" ADD CONSTRAINT "workspace_grant_self_check" CHECK ("workspace_id" <> "to_workspace_id");
