-- An operator's question shows at its task whether or not a turn is open (V1): tasks and sessions count those that wait.
CREATE INDEX "message_pending_user_question" ON "message" ("session_id") WHERE "type" = 'user_question' AND "metadata"->>'status' = 'pending';
