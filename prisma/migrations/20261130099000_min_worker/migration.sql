-- Workers of build 1 know no workflow steps, no caps of a tree and no workspace roots: they would end or claim what they must not.
INSERT INTO "setting" ("key", "value") VALUES ('schema.min_worker', '2') ON CONFLICT ("key") DO UPDATE SET "value" = EXCLUDED."value";
