-- Commands and HTTP calls that a profile's agents run around prompts and tools (docs/hooks.md).
ALTER TABLE "agent_profile" ADD COLUMN "hooks" JSONB NOT NULL DEFAULT '{}';
