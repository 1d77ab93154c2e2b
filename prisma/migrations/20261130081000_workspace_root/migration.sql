-- Task folders on several machines: a folder lies in one workspace root, and a worker says which root it reaches (operations.md).
-- A folder without a row lies nowhere yet: the first claim of its work places it.

-- AlterTable
ALTER TABLE "worker" ADD COLUMN "workspace_root_id" UUID;

-- CreateTable
CREATE TABLE "workspace_root" (
    "id" UUID NOT NULL,
    "host" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "workspace_root_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "task_folder" (
    "folder" TEXT NOT NULL,
    "workspace_id" UUID NOT NULL,
    "workspace_root_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "task_folder_pkey" PRIMARY KEY ("folder")
);

-- AddForeignKey
ALTER TABLE "worker" ADD CONSTRAINT "worker_workspace_root_id_fkey" FOREIGN KEY ("workspace_root_id") REFERENCES "workspace_root"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "task_folder" ADD CONSTRAINT "task_folder_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "task_folder" ADD CONSTRAINT "task_folder_workspace_root_id_fkey" FOREIGN KEY ("workspace_root_id") REFERENCES "workspace_root"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
