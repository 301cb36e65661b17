"""What seals the words of a record beside it: its context of history, and the columns that can be erased.

Released migrations use what stands here: change nothing of it, add what comes later beside it.
"""

from __future__ import annotations

from typing import Final

# The links of a context are named by its id and by their own number: later work under it adds to what it
# says, and is sealed again. Which one a transaction has sealed last stands in a setting of that transaction.
FUNCTIONS: Final = """
CREATE FUNCTION corpus_audit_context_sha256(context uuid) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT coalesce((SELECT encode(sha256(convert_to(metadata::text, 'UTF8')), 'hex')
        FROM pghistory_context WHERE id = context), '')
$$;

CREATE FUNCTION corpus_audit_link(
    sealed_table text, sealed_row text, sealed text[], digest text, account text
) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE head corpus_audithead;
BEGIN
    INSERT INTO corpus_audithead (id, number, sha256) VALUES (1, 0, '') ON CONFLICT DO NOTHING;
    SELECT * INTO head FROM corpus_audithead WHERE id = 1 FOR UPDATE;
    head.number := head.number + 1;
    INSERT INTO corpus_auditlink (number, table_name, row_id, columns, row_sha256, by, previous, sha256)
        VALUES (head.number, sealed_table, sealed_row, sealed, digest, account, head.sha256,
            corpus_audit_link_sha256(
                head.sha256, head.number, sealed_table, sealed_row, sealed, digest, account))
        RETURNING sha256 INTO head.sha256;
    UPDATE corpus_audithead SET number = head.number, sha256 = head.sha256 WHERE id = 1;
END
$$;

CREATE FUNCTION corpus_audit_context(context uuid, account text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    digest text := corpus_audit_context_sha256(context);
    name text := replace(context::text, '-', '');
    number bigint;
BEGIN
    IF digest = '' OR current_setting('sci_rag.sealed_context', true) = name || digest THEN
        RETURN;
    END IF;
    SELECT head.number + 1 INTO number FROM corpus_audithead AS head WHERE id = 1 FOR UPDATE;
    PERFORM corpus_audit_link('pghistory_context', name || ':' || to_hex(coalesce(number, 1)),
        ARRAY['metadata'], digest, account);
    PERFORM set_config('sci_rag.sealed_context', name || digest, true);
END
$$;

CREATE OR REPLACE FUNCTION corpus_audit_append(
    sealed_table text, sealed_row text, content jsonb, erasable text[])
RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    sealed text[];
    account text := corpus_audit_by(content);
BEGIN
    PERFORM corpus_audit_context((content->>'pgh_context_id')::uuid, account);
    IF erasable <> '{}' THEN
        PERFORM corpus_audit_link(sealed_table || '.words', sealed_row, erasable,
            corpus_audit_row_sha256(content, erasable), account);
    END IF;
    SELECT array_agg(key ORDER BY key) INTO sealed
        FROM jsonb_object_keys(content) AS key WHERE NOT key = ANY(erasable);
    PERFORM corpus_audit_link(
        sealed_table, sealed_row, sealed, corpus_audit_row_sha256(content, sealed), account);
END
$$;
"""

AS_BEFORE: Final = """
CREATE OR REPLACE FUNCTION corpus_audit_append(
    sealed_table text, sealed_row text, content jsonb, erasable text[])
RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    head corpus_audithead;
    sealed text[];
    digest text;
    account text := corpus_audit_by(content);
BEGIN
    INSERT INTO corpus_audithead (id, number, sha256) VALUES (1, 0, '') ON CONFLICT DO NOTHING;
    SELECT * INTO head FROM corpus_audithead WHERE id = 1 FOR UPDATE;
    SELECT array_agg(key ORDER BY key) INTO sealed
        FROM jsonb_object_keys(content) AS key WHERE NOT key = ANY(erasable);
    digest := corpus_audit_row_sha256(content, sealed);
    head.number := head.number + 1;
    INSERT INTO corpus_auditlink (number, table_name, row_id, columns, row_sha256, by, previous, sha256)
        VALUES (head.number, sealed_table, sealed_row, sealed, digest, account, head.sha256,
            corpus_audit_link_sha256(
                head.sha256, head.number, sealed_table, sealed_row, sealed, digest, account))
        RETURNING sha256 INTO head.sha256;
    UPDATE corpus_audithead SET number = head.number, sha256 = head.sha256 WHERE id = 1;
END
$$;
DROP FUNCTION corpus_audit_context(uuid, text);
DROP FUNCTION corpus_audit_link(text, text, text[], text, text);
DROP FUNCTION corpus_audit_context_sha256(uuid);
"""

# What was sealed without its words is sealed with them now. Those that have a link keep it.
THERE: Final = """
DO $$
DECLARE record RECORD;
BEGIN
    PERFORM set_config('timezone', 'UTC', true);
    FOR record IN SELECT id, coalesce(metadata->>'user', '') AS account
        FROM pghistory_context ORDER BY id LOOP
        PERFORM corpus_audit_context(record.id, record.account);
    END LOOP;
    FOR record IN SELECT to_jsonb(decision) AS content FROM corpus_rightsdecision AS decision
        WHERE NOT EXISTS (SELECT FROM corpus_auditlink
            WHERE table_name = 'corpus_rightsdecision.words' AND row_id = decision.id::text)
        ORDER BY decision.id LOOP
        PERFORM corpus_audit_link('corpus_rightsdecision.words', record.content->>'id',
            '{document_title,signal,evidence,note}', corpus_audit_row_sha256(
                record.content, '{document_title,signal,evidence,note}'), '');
    END LOOP;
END
$$;
"""
