-- The runtime `acp`: a profile names the command of its agent, a session keeps the agent's own id of its conversation, and a token
-- that is handed to such an agent belongs to one turn.

-- AlterTable
ALTER TABLE "agent_profile" ADD COLUMN "command" JSONB;

-- AlterTable
ALTER TABLE "session" ADD COLUMN "agent_session_id" TEXT;

-- AlterTable
ALTER TABLE "api_token" ADD COLUMN "turn_id" UUID;

-- What Prisma cannot say.
ALTER TABLE "agent_profile" DROP CONSTRAINT "agent_profile_runtime_check";
ALTER TABLE "agent_profile" ADD CONSTRAINT "agent_profile_runtime_check" CHECK ("runtime" IN ('loop', 'acp', 'external', 'passthrough'));
ALTER TABLE "agent_profile" ADD CONSTRAINT "agent_profile_command_check" CHECK (("runtime" = 'acp') = ("command" IS NOT NULL));

-- AddForeignKey
ALTER TABLE "api_token" ADD CONSTRAINT "api_token_turn_fkey" FOREIGN KEY ("turn_id") REFERENCES "turn"("id") ON DELETE CASCADE ON UPDATE CASCADE NOT VALID;

-- Workers of build 2 know no runtime `acp`: they would claim its turns and could not run them.
UPDATE "setting" SET "value" = '3' WHERE "key" = 'schema.min_worker';
