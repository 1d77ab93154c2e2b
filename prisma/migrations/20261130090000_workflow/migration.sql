-- Workflows in use: rules of a step, the default of a workspace, archive marks, deferred moves. No build before this one wrote these tables.

-- AlterTable
ALTER TABLE "workflow" ADD COLUMN "is_default" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN "revision" INTEGER NOT NULL DEFAULT 1,
ADD COLUMN "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
ADD COLUMN "archived_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "workflow_step" ADD COLUMN "workspace_id" UUID,
ADD COLUMN "move_to_step_id" UUID,
ADD COLUMN "instructions" TEXT NOT NULL DEFAULT '',
ADD COLUMN "archived_at" TIMESTAMPTZ(3),
ALTER COLUMN "on_turn_complete" SET DEFAULT 'none';
UPDATE "workflow_step" s SET "workspace_id" = w."workspace_id", "on_turn_complete" = 'none' FROM "workflow" w WHERE w."id" = s."workflow_id";
ALTER TABLE "workflow_step" ALTER COLUMN "workspace_id" SET NOT NULL;

-- AlterTable
ALTER TABLE "turn" ADD COLUMN "deferred_step_id" UUID;

-- AlterTable
ALTER TABLE "queue_entry" ADD COLUMN "workflow_step_id" UUID;

-- CreateIndex
CREATE UNIQUE INDEX "workflow_workspace_id_id_key" ON "workflow"("workspace_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "workflow_step_workspace_id_id_key" ON "workflow_step"("workspace_id", "id");

-- Nothing of one workspace links to a workflow of another (operations.md, Trust).
ALTER TABLE "workflow_step" DROP CONSTRAINT "workflow_step_workflow_id_fkey";
ALTER TABLE "task" DROP CONSTRAINT "task_workflow_step_id_fkey";

-- AddForeignKey
ALTER TABLE "workflow_step" ADD CONSTRAINT "workflow_step_workflow_fkey" FOREIGN KEY ("workspace_id", "workflow_id") REFERENCES "workflow"("workspace_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "workflow_step" ADD CONSTRAINT "workflow_step_move_to_fkey" FOREIGN KEY ("workspace_id", "move_to_step_id") REFERENCES "workflow_step"("workspace_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "task" ADD CONSTRAINT "task_workflow_step_fkey" FOREIGN KEY ("workspace_id", "workflow_step_id") REFERENCES "workflow_step"("workspace_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE NOT VALID;

-- AddForeignKey
ALTER TABLE "turn" ADD CONSTRAINT "turn_deferred_step_fkey" FOREIGN KEY ("workspace_id", "deferred_step_id") REFERENCES "workflow_step"("workspace_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE NOT VALID;

-- AddForeignKey
ALTER TABLE "queue_entry" ADD CONSTRAINT "queue_entry_workflow_step_fkey" FOREIGN KEY ("workspace_id", "workflow_step_id") REFERENCES "workflow_step"("workspace_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE NOT VALID;

-- What Prisma cannot say.
ALTER TABLE "workflow_step" ADD CONSTRAINT "workflow_step_on_turn_complete_check" CHECK ("on_turn_complete" IN ('none', 'move_to_next', 'move_to_step'));
ALTER TABLE "workflow_step" ADD CONSTRAINT "workflow_step_move_to_check" CHECK (("on_turn_complete" = 'move_to_step') = ("move_to_step_id" IS NOT NULL));
ALTER TABLE "workflow_step" ADD CONSTRAINT "workflow_step_position_check" CHECK (("archived_at" IS NULL) = ("position" > 0));
ALTER TABLE "workflow" ADD CONSTRAINT "workflow_default_check" CHECK (NOT ("is_default" AND "archived_at" IS NOT NULL));
CREATE UNIQUE INDEX "workflow_one_default" ON "workflow"("workspace_id") WHERE "is_default";
