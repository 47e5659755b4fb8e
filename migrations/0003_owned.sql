-- Of a table less is read where only who owns which addresses is asked: what that adds up to,
-- beside what all of it does. Null: of a generation that was committed before it was counted.
ALTER TABLE generation ADD COLUMN owned INTEGER;
