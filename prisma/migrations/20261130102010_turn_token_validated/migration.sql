ALTER TABLE "api_token" VALIDATE CONSTRAINT "api_token_turn_fkey";
