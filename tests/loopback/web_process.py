"""The site in a process of its own, on the tests' database and a scripted model: to be killed.

Arguments: port, name of the database, base address of the model.
"""

import sys

import uvicorn
from django.conf import settings

port, database, model = sys.argv[1:]
settings.DATABASES["default"]["NAME"] = database
settings.SCI_RAG_LLM_MODEL = "openai/test-model"
settings.SCI_RAG_LLM_API_BASE = model
settings.SCI_RAG_LLM_API_KEY = "sk-test"

from sci_rag_site.asgi import application  # noqa: E402

if __name__ == "__main__":
    uvicorn.run(application, host="127.0.0.1", port=int(port), log_config=None, lifespan="off")
