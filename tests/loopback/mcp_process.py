"""`sci-rag mcp` in a process of its own, on the tests' database and a scripted model.

Arguments: name of the database, base address of the model or nothing, then those of the command.
"""

import sys

import django

django.setup()

from django.conf import settings  # noqa: E402

database, model, *arguments = sys.argv[1:]
settings.DATABASES["default"]["NAME"] = database
if model:
    settings.SCI_RAG_LLM_MODEL = "openai/test-model"
    settings.SCI_RAG_LLM_API_BASE = model
    settings.SCI_RAG_LLM_API_KEY = "sk-test"

from sci_rag_site.commands.mcp import mcp  # noqa: E402

if __name__ == "__main__":
    # What a library might print by mistake, and the protocol must not be broken by.
    print("printed before the protocol began", file=sys.stderr)  # noqa: T201
    mcp(arguments)
