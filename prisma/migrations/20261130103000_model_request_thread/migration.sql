-- Requests of a subagent stand in its agent's session under a thread id, as its messages and calls do (agent-loop.md §7).
ALTER TABLE "model_request" ADD COLUMN "thread_id" UUID;
