"""A short code beside each vector, by which a large eligible set is narrowed before it is ranked exactly.

No model: the database alone writes these rows, by triggers on the embeddings, whatever way those come.
"""

from django.db import migrations

# In which of eight steps each value lies: half a standard deviation of a unit vector's values is one step.
# The first bit is the sign; the others come from how many of the seven borders a value is above.
_ABOVE = "binary_quantize(unit.vector - array_fill(({0} * 0.5 / sqrt(dimensions))::real, size)::halfvec)"
_BORDERS = [_ABOVE.format(border) for border in range(-3, 4)]
_FUNCTION = f"""
CREATE FUNCTION corpus_vector_code(vector halfvec) RETURNS bit varying
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT {_BORDERS[3]} || ({" # ".join(_BORDERS[1::2])}) || ({" # ".join(_BORDERS)})
    FROM (
        SELECT l2_normalize($1) AS vector, vector_dims($1) AS dimensions, ARRAY[vector_dims($1)] AS size
    ) unit
$$;
"""  # noqa: S608 - the constants above

# The columns stand in the order in which a scan looks at them. PLAIN keeps the code in the row and aligned.
_TABLE = """
CREATE TABLE corpus_vectorcode (
    version_id integer NOT NULL,
    code bit varying NOT NULL,
    embedding_id bigint PRIMARY KEY,
    rank_key bigint NOT NULL,
    document_id uuid NOT NULL
);
ALTER TABLE corpus_vectorcode ALTER COLUMN code SET STORAGE PLAIN;
INSERT INTO corpus_vectorcode (version_id, code, embedding_id, rank_key, document_id)
SELECT version_id, corpus_vector_code(vector), id, rank_key, document_id
FROM corpus_chunkembedding ORDER BY version_id, document_id, id;
CREATE INDEX corpus_vectorcode_document ON corpus_vectorcode (document_id, version_id);
"""

_TRIGGERS = """
CREATE FUNCTION corpus_vectorcode_follow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        TRUNCATE corpus_vectorcode;
        RETURN NULL;
    END IF;
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM corpus_vectorcode code USING before WHERE code.embedding_id = before.id;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO corpus_vectorcode (version_id, code, embedding_id, rank_key, document_id)
        SELECT version_id, corpus_vector_code(vector), id, rank_key, document_id FROM after
        ON CONFLICT (embedding_id) DO NOTHING;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER corpus_vectorcode_insert AFTER INSERT ON corpus_chunkembedding
    REFERENCING NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION corpus_vectorcode_follow();
CREATE TRIGGER corpus_vectorcode_update AFTER UPDATE ON corpus_chunkembedding
    REFERENCING OLD TABLE AS before NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION corpus_vectorcode_follow();
CREATE TRIGGER corpus_vectorcode_delete AFTER DELETE ON corpus_chunkembedding
    REFERENCING OLD TABLE AS before FOR EACH STATEMENT EXECUTE FUNCTION corpus_vectorcode_follow();
CREATE TRIGGER corpus_vectorcode_truncate AFTER TRUNCATE ON corpus_chunkembedding
    FOR EACH STATEMENT EXECUTE FUNCTION corpus_vectorcode_follow();
"""


class Migration(migrations.Migration):
    dependencies = [("corpus", "0015_checks_have_rows_of_their_own")]
    operations = [
        migrations.RunSQL(_FUNCTION, "DROP FUNCTION corpus_vector_code(halfvec)"),
        migrations.RunSQL(_TABLE, "DROP TABLE corpus_vectorcode"),
        migrations.RunSQL(
            _TRIGGERS,
            "DROP TRIGGER corpus_vectorcode_insert ON corpus_chunkembedding;"
            " DROP TRIGGER corpus_vectorcode_update ON corpus_chunkembedding;"
            " DROP TRIGGER corpus_vectorcode_delete ON corpus_chunkembedding;"
            " DROP TRIGGER corpus_vectorcode_truncate ON corpus_chunkembedding;"
            " DROP FUNCTION corpus_vectorcode_follow()",
        ),
    ]
