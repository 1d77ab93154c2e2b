-- How many tokens the model of a profile reads and writes together; absent: the documented default.
ALTER TABLE "agent_profile" ADD COLUMN "context_window" INTEGER;
