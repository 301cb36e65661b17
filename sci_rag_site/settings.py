"""Settings, from the environment. Every variable is documented in docs/operating.md."""

from __future__ import annotations

import secrets
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from sci_rag_site import boot, csp
from sci_rag_site import logging as site_logging
from sci_rag_site.secret_files import read_or_create

BASE_DIR = Path(__file__).resolve().parent.parent

env = boot.Environment()
env.read_env(BASE_DIR / ".env")

# --- Where things are kept -------------------------------------------------------------------
VAR_DIR = Path(env.str("SCI_RAG_VAR_DIR", default=str(BASE_DIR / "var"))).resolve()
MEDIA_ROOT = VAR_DIR / "media"
DOMAIN_DIR = Path(env.str("SCI_RAG_DOMAIN_DIR", default=str(BASE_DIR / "domain"))).resolve()

# --- Database --------------------------------------------------------------------------------
DATABASE_URL = env.str("DATABASE_URL", default="")
EMBEDDED_POSTGRES = None
if DATABASE_URL:
    DATABASES = {"default": env.db_url_config(DATABASE_URL)}
else:
    from sci_rag_site.embedded_postgres import DATABASE, EmbeddedPostgres

    # Started by the first connection, which also learns the address and the password.
    EMBEDDED_POSTGRES = EmbeddedPostgres(VAR_DIR / "postgres")
    DATABASES = {"default": {"ENGINE": "sci_rag_site.database", "NAME": DATABASE}}
# One bounded pool per process: five layers times many askers must not exhaust the server. What the address
# says besides, as ?sslmode=verify-full, stays.
DATABASES["default"].setdefault("OPTIONS", {})["pool"] = {"min_size": 0, "max_size": 16, "timeout": 20}
# A pooled connection is tried before use, so that the pool heals after a restart of the database.
DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
# A server that repeats what DATABASE_URL's does, for retrieval's layers to read from.
SCI_RAG_REPLICA_URL = env.str("SCI_RAG_REPLICA_URL", default="")
if SCI_RAG_REPLICA_URL:
    if not DATABASE_URL:
        raise ImproperlyConfigured(
            "SCI_RAG_REPLICA_URL is set and DATABASE_URL is not: the embedded server has no replica."
        )
    DATABASES["replica"] = env.db_url_config(SCI_RAG_REPLICA_URL)
    # Its loss has to be noticed before an asker does; the primary is there to be asked instead.
    DATABASES["replica"].setdefault("OPTIONS", {}).update(
        connect_timeout=2,
        tcp_user_timeout=2000,
        pool={"min_size": 0, "max_size": 16, "timeout": 2, "reconnect_timeout": 1},
    )
    DATABASES["replica"] |= {"CONN_HEALTH_CHECKS": True, "TEST": {"MIRROR": "default"}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Who may reach the site ------------------------------------------------------------------
DEBUG = env.bool("DEBUG", default=False)
_hosts = env.list("ALLOWED_HOSTS", default=[])
ALLOWED_HOSTS = _hosts or ["127.0.0.1", "localhost", "[::1]"]
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])


def _secret_key() -> str:
    """Return the configured key; only the embedded default, a site for one machine, makes its own."""
    key: str = env.str("SECRET_KEY", default="")
    if key:
        return key
    if DATABASE_URL:
        raise ImproperlyConfigured(
            "SECRET_KEY is not set. A site with a database of its own needs one that is the same in every "
            "process: put SECRET_KEY=... into .env, with the output of: python -c 'import secrets; "
            "print(secrets.token_urlsafe(64))'"
        )
    return read_or_create(VAR_DIR / "secret_key", lambda: secrets.token_urlsafe(64))


SECRET_KEY = _secret_key()
# Keys the site had before: what they signed, sealed and hashed still counts, and is renewed as it is used.
SECRET_KEY_FALLBACKS = env.list("SECRET_KEY_FALLBACKS", default=[])

# A site that answers to a public name is served over TLS unless it says otherwise.
HTTPS = env.bool("SCI_RAG_HTTPS", default=bool(_hosts))
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = HTTPS
# Programs are refused and not sent on: the key has been over the wire already, and its owner is to notice.
SECURE_REDIRECT_EXEMPT = [r"^api/"]
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
# Not "no-referrer": browsers then send `Origin: null` with forms, which the CSRF check refuses.
SECURE_REFERRER_POLICY = "same-origin"
CONTENT_SECURITY_POLICY = csp.STRICT
CSRF_FAILURE_VIEW = "sci_rag_site.views.csrf_failure"
CSRF_COOKIE_HTTPONLY = True
if HTTPS:
    SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = "__Host-sessionid", "__Host-csrftoken"
X_FRAME_OPTIONS = "DENY"
# Sessions know whose they are; corpus.session_store says how long they last however busy they are.
SESSION_ENGINE = "corpus.session_store"
SESSION_COOKIE_AGE = 8 * 3600
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "ask"
LOGOUT_REDIRECT_URL = "login"

# --- Applications ----------------------------------------------------------------------------
INSTALLED_APPS = [
    "unfold.apps.BasicAppConfig",
    "unfold.contrib.filters",
    "sci_rag_site.apps.SciRagAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "django_htmx",
    "template_partials",
    "pgtrigger",
    "pghistory",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "corpus",
    "retrieval",
    "answers",
    "evaluation",
]
MIDDLEWARE = [
    "sci_rag_site.middleware.RequestIdMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "sci_rag_site.middleware.StaticFilesMiddleware",
    "sci_rag_site.middleware.PrivatePagesMiddleware",
    "sci_rag_site.full_disk.FullDiskMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "corpus.accounts.middleware.SignedInMiddleware",
    "corpus.audit.middleware.DownloadsMiddleware",
]
ROOT_URLCONF = "sci_rag_site.urls"
ASGI_APPLICATION = "sci_rag_site.asgi.application"
WSGI_APPLICATION = "sci_rag_site.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "sci_rag_site.context_processors.site",
            ]
        },
    }
]
STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = Path(env.str("SCI_RAG_STATIC_DIR", default=str(VAR_DIR / "static"))).resolve()
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "sci_rag_site.static_files.CollectedFiles"},
}
WHITENOISE_USE_FINDERS = True
# No other site reads this one's files.
WHITENOISE_ALLOW_ALL_ORIGINS = False
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English")]
TIME_ZONE = "UTC"
USE_TZ = True
AUTHENTICATION_BACKENDS = [
    "corpus.accounts.backends.PasswordBackend",
    "corpus.accounts.backends.ProviderBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "corpus.accounts.passwords.NotOfThisSite"},
]

# --- A provider that signs people in, OpenID Connect: none unless it is named ------------------
SCI_RAG_OIDC_ISSUER = env.str("SCI_RAG_OIDC_ISSUER", default="")
SCI_RAG_OIDC_CLIENT_ID = env.str("SCI_RAG_OIDC_CLIENT_ID", default="")
SCI_RAG_OIDC_CLIENT_SECRET = env.str("SCI_RAG_OIDC_CLIENT_SECRET", default="")
SCI_RAG_OIDC_SCOPES = env.str("SCI_RAG_OIDC_SCOPES", default="openid profile email")
# What the provider calls the groups of a person; dots lead into objects.
SCI_RAG_OIDC_GROUPS_CLAIM = env.str("SCI_RAG_OIDC_GROUPS_CLAIM", default="groups")
SCI_RAG_OIDC_NAME = env.str("SCI_RAG_OIDC_NAME", default="your organisation")
# Its hosts, where they are private ones or without TLS. Nothing else than sign-in may reach them.
SCI_RAG_OIDC_HOSTS = env.list("SCI_RAG_OIDC_HOSTS", default=[])
# How long somebody goes on seeing what they saw before the provider is asked again.
SCI_RAG_OIDC_CHECK_SECONDS = env.int("SCI_RAG_OIDC_CHECK_SECONDS", default=300)

# --- The librarian's admin -------------------------------------------------------------------
UNFOLD = {
    "SITE_TITLE": "sci-rag",
    "SITE_HEADER": "sci-rag",
    "SITE_SUBHEADER": "Librarian’s desk",
    "SITE_URL": "/",
    "SITE_SYMBOL": "library_books",
    "SHOW_BACK_BUTTON": True,
    "SITE_FAVICONS": [
        {"rel": "icon", "type": "image/svg+xml", "href": "corpus.admin_navigation.icon"},
    ],
    "STYLES": ["corpus.admin_navigation.stylesheet"],
    "SIDEBAR": {"navigation": "corpus.admin_navigation.sidebar"},
    # The petrol of the other pages.
    "COLORS": {
        "primary": {
            "50": "oklch(97% .013 205)",
            "100": "oklch(94% .026 205)",
            "200": "oklch(88% .05 205)",
            "300": "oklch(82% .075 205)",
            "400": "oklch(74% .09 205)",
            "500": "oklch(64% .09 205)",
            "600": "oklch(43% .07 205)",
            "700": "oklch(38% .062 205)",
            "800": "oklch(33% .053 205)",
            "900": "oklch(28% .045 205)",
            "950": "oklch(22% .035 205)",
        }
    },
}

# --- Audit -----------------------------------------------------------------------------------
# Triggers refuse to change or remove a recorded event.
PGHISTORY_APPEND_ONLY = True
PGHISTORY_ADMIN_ALL_EVENTS = False

# --- The REST surface ------------------------------------------------------------------------
# What views do is said by `corpus.api.views`; nothing is open because a setting was forgotten.
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "corpus.api.problems.handled",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "sci-rag",
    "DESCRIPTION": "A lab’s documents, searched and quoted within the rights of a key. See docs/api.md.",
    "OAS_VERSION": "3.1.0",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "POSTPROCESSING_HOOKS": [],
    "SERVERS": [],
}

# --- Logs ------------------------------------------------------------------------------------
SCI_RAG_LOG_LEVEL = env.str("SCI_RAG_LOG_LEVEL", default="INFO")
SCI_RAG_LOG_FORMAT = env.str("SCI_RAG_LOG_FORMAT", default="auto")
LOGGING = site_logging.configuration(level=SCI_RAG_LOG_LEVEL, form=SCI_RAG_LOG_FORMAT)

# --- Numbers for monitors --------------------------------------------------------------------
# What `/metrics` has to be asked with; empty: there is no such page, and nothing is counted.
SCI_RAG_METRICS_TOKEN = env.str("SCI_RAG_METRICS_TOKEN", default="")
if 0 < len(SCI_RAG_METRICS_TOKEN) < 32:
    raise ImproperlyConfigured(
        "SCI_RAG_METRICS_TOKEN is shorter than 32 characters. Make one with: python -c 'import secrets; "
        "print(secrets.token_urlsafe(32))'"
    )

# --- Background work -------------------------------------------------------------------------
# Without a broker of its own, messages to the worker are files.
CELERY_BROKER_URL = env.str("CELERY_BROKER_URL", default="")
CELERY_APP = "sci_rag_site.celery.app"
# Whether the worker tries the newest backup once a week, and what opens a sealed one.
SCI_RAG_DRILL_WEEKLY = env.bool("SCI_RAG_DRILL_WEEKLY", default=False)
SCI_RAG_BACKUP_PASSPHRASE_FILE = env.str("SCI_RAG_BACKUP_PASSPHRASE_FILE", default="")
# How long a job stays with a worker that gives no sign of life. A living one renews it in thirds.
SCI_RAG_LEASE_SECONDS = env.int("SCI_RAG_LEASE_SECONDS", default=30)

# --- Models and limits -----------------------------------------------------------------------
SCI_RAG_EMBEDDING_MODEL = env.str("SCI_RAG_EMBEDDING_MODEL", default="all-MiniLM-L6-v2")
# Hosted models give more dimensions than search needs: theirs are cut to this many.
SCI_RAG_EMBEDDING_DIMENSIONS = env.int(
    "SCI_RAG_EMBEDDING_DIMENSIONS", default=384 if SCI_RAG_EMBEDDING_MODEL == "all-MiniLM-L6-v2" else 1536
)
SCI_RAG_EMBEDDING_API_BASE = env.str("SCI_RAG_EMBEDDING_API_BASE", default="")
SCI_RAG_EMBEDDING_API_KEY = env.str("SCI_RAG_EMBEDDING_API_KEY", default="")
SCI_RAG_LLM_MODEL = env.str("SCI_RAG_LLM_MODEL", default="")
SCI_RAG_FAST_MODEL = env.str("SCI_RAG_FAST_MODEL", default="")
SCI_RAG_JUDGE_MODEL = env.str("SCI_RAG_JUDGE_MODEL", default="")
SCI_RAG_LLM_API_BASE = env.str("SCI_RAG_LLM_API_BASE", default="")
SCI_RAG_LLM_API_KEY = env.str("SCI_RAG_LLM_API_KEY", default="")
# Prices that litellm's list does not have, as MODEL=PROMPT/REPLY in US dollars for a million tokens.
SCI_RAG_MODEL_PRICES = env.list("SCI_RAG_MODEL_PRICES", default=[])
# The cap of a run that names none; 0 is no cap.
SCI_RAG_MAX_TOKENS_PER_RUN = env.int("SCI_RAG_MAX_TOKENS_PER_RUN", default=0)
SCI_RAG_CROSS_ENCODER_DIR = env.str("SCI_RAG_CROSS_ENCODER_DIR", default="")
SCI_RAG_MAX_UPLOAD_MB = env.int("SCI_RAG_MAX_UPLOAD_MB", default=100)
# What one person may send within any 24 hours.
SCI_RAG_UPLOAD_MB_PER_DAY = env.int("SCI_RAG_UPLOAD_MB_PER_DAY", default=10_000)
# Files that are sent go to disk in pieces, counted and measured on the way; a page names those it refused.
FILE_UPLOAD_HANDLERS = ["corpus.upload_handlers.BoundedHandler"]
DATA_UPLOAD_MAX_NUMBER_FILES = 1000
# Whom the services we ask may write to; without it nothing is asked.
SCI_RAG_CONTACT_EMAIL = env.str("SCI_RAG_CONTACT_EMAIL", default="")
SCI_RAG_CROSSREF_URL = env.str("SCI_RAG_CROSSREF_URL", default="https://api.crossref.org")
SCI_RAG_OPENALEX_URL = env.str("SCI_RAG_OPENALEX_URL", default="https://api.openalex.org")
# Free, and needed to read on after a first page.
SCI_RAG_OPENALEX_API_KEY = env.str("SCI_RAG_OPENALEX_API_KEY", default="")
SCI_RAG_UNPAYWALL_URL = env.str("SCI_RAG_UNPAYWALL_URL", default="https://api.unpaywall.org/v2")
# Hosts that may be asked though they are private ones, as name or name:port.
SCI_RAG_OUTBOUND_HOSTS = env.list("SCI_RAG_OUTBOUND_HOSTS", default=[])
# The folder of Docling's models: with it Docling reads PDFs, else our own layout parser does.
DOCLING_ARTIFACTS_PATH = env.str("DOCLING_ARTIFACTS_PATH", default="")
# Pictures of pages are drawn again when somebody looks; this bounds what is kept of them.
SCI_RAG_PAGE_CACHE_MB = env.int("SCI_RAG_PAGE_CACHE_MB", default=500)

# What cannot be is said now, before anybody stands at the door.
boot.refuse(globals())
