"""The chain's functions and triggers, as migrations put them into the database.

Released migrations use what stands here: change nothing of it, add what comes later beside it.
"""

from __future__ import annotations

from typing import Final

FUNCTIONS: Final = """
CREATE FUNCTION corpus_audit_row_sha256(content jsonb, columns text[]) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT encode(sha256(convert_to(
        coalesce(jsonb_object_agg(each.key, each.value), '{}'::jsonb)::text, 'UTF8')), 'hex')
    FROM jsonb_each(content) AS each WHERE each.key = ANY(columns)
$$;

CREATE FUNCTION corpus_audit_link_sha256(
    previous text, number bigint, table_name text, row_id text, columns text[], row_sha256 text, by text
) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT encode(sha256(convert_to(jsonb_build_array(
        previous, number, table_name, row_id, to_jsonb(columns), row_sha256, by)::text, 'UTF8')), 'hex')
$$;

CREATE FUNCTION corpus_audit_by(content jsonb) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT coalesce((SELECT metadata->>'user' FROM pghistory_context
        WHERE id = (content->>'pgh_context_id')::uuid), '')
$$;

CREATE FUNCTION corpus_audit_append(sealed_table text, sealed_row text, content jsonb, erasable text[])
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

CREATE FUNCTION corpus_audit_seal() RETURNS trigger
LANGUAGE plpgsql SET timezone TO 'UTC' AS $$
DECLARE content jsonb := to_jsonb(NEW);
BEGIN
    PERFORM corpus_audit_append(
        TG_TABLE_NAME::text, content->>TG_ARGV[0], content, string_to_array(TG_ARGV[1], ','));
    RETURN NULL;
END
$$;
"""

NO_FUNCTIONS: Final = """
DROP FUNCTION corpus_audit_seal();
DROP FUNCTION corpus_audit_append(text, text, jsonb, text[]);
DROP FUNCTION corpus_audit_by(jsonb);
DROP FUNCTION corpus_audit_link_sha256(text, bigint, text, text, text[], text, text);
DROP FUNCTION corpus_audit_row_sha256(jsonb, text[]);
"""


def sealed(table: str, *, key: str, erasable: str = "") -> tuple[str, str]:
    """Return what seals the rows of `table`, those that are there and those to come, and what takes it back.

    Deferred to the end of the transaction, so that the head is the last thing locked and no two
    transactions wait for each other. `erasable` columns go with a document that is deleted.
    """
    there = f"""
        DO $$
        DECLARE content jsonb;
        BEGIN
            PERFORM set_config('timezone', 'UTC', true);
            -- Those that were sealed before the migration was taken back are in the chain for good.
            FOR content IN SELECT to_jsonb(record) FROM {table} AS record
                WHERE NOT EXISTS (SELECT FROM corpus_auditlink AS link
                    WHERE link.table_name = '{table}' AND link.row_id = record.{key}::text)
                ORDER BY record.{key} LOOP
                PERFORM corpus_audit_append(
                    '{table}', content->>'{key}', content, string_to_array('{erasable}', ','));
            END LOOP;
        END
        $$;
    """  # noqa: S608 - names that stand in migrations
    to_come = f"""
        CREATE CONSTRAINT TRIGGER audit_sealed AFTER INSERT ON {table} DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION corpus_audit_seal('{key}', '{erasable}');
    """
    return there + to_come, f"DROP TRIGGER audit_sealed ON {table};"
