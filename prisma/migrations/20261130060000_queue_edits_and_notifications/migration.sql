-- Edits of waiting entries are compared with the revision that the editor saw; operators' notifications are rows that they acknowledge.

-- AlterTable
ALTER TABLE "queue_entry" ADD COLUMN "revision" INTEGER NOT NULL DEFAULT 1;

-- CreateTable
CREATE TABLE "operator_notification" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "task_id" UUID NOT NULL,
    "session_id" UUID,
    "question_id" UUID,
    "reason" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "acknowledged_at" TIMESTAMPTZ(3),
    "acknowledged_by" TEXT,

    CONSTRAINT "operator_notification_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "operator_notification_question_id_key" ON "operator_notification"("question_id");

-- CreateIndex
CREATE INDEX "operator_notification_created_at_id_idx" ON "operator_notification"("created_at", "id");

-- AddForeignKey
ALTER TABLE "operator_notification" ADD CONSTRAINT "operator_notification_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
