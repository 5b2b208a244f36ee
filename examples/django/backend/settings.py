"""Everything that differs between machines comes from the environment."""

import os
import secrets

import dj_database_url

DEBUG = False
# Nothing here signs anything yet. Set it before you add sessions: this one differs in every worker.
SECRET_KEY = os.environ.get("SECRET_KEY") or secrets.token_urlsafe(50)
ALLOWED_HOSTS = os.environ.get("ALLOWED_HOSTS", "localhost 127.0.0.1").split()

# One connection for each thread of a worker, kept, and checked before a request uses it: the database may have been
# started again meanwhile.
DATABASES = {
    "default": dj_database_url.config(default="postgres:///warifu", conn_max_age=600, conn_health_checks=True)
}
DATABASES["default"]["OPTIONS"] = {
    "connect_timeout": 5,
    # A request that waits for another one's key gives up in time to say so.
    "options": "-c lock_timeout=5s -c statement_timeout=30s -c idle_in_transaction_session_timeout=30s",
    **DATABASES["default"].get("OPTIONS", {}),  # such as ?sslmode=require
}
# A transaction covers what belongs together, not the request: what a refused insert means is read after its rollback.
ATOMIC_REQUESTS = False

INSTALLED_APPS = ["corsheaders", "rest_framework", "promise"]
MIDDLEWARE = ["corsheaders.middleware.CorsMiddleware", "django.middleware.security.SecurityMiddleware"]
ROOT_URLCONF = "backend.urls"
WSGI_APPLICATION = "backend.wsgi.application"
# The addresses are matched with and without the slash: a redirect would lose a POST.
APPEND_SLASH = False
USE_TZ, TIME_ZONE = True, "UTC"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["promise.auth.TokenAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "EXCEPTION_HANDLER": "promise.problems.exception_handler",
    "UNAUTHENTICATED_USER": None,
}

MAX_ITEMS = 100
MAX_BYTES = 1 << 20
DATA_UPLOAD_MAX_MEMORY_SIZE = MAX_BYTES

# The webviews' own origins, and those of the sites.
CORS_ALLOWED_ORIGINS = ["https://localhost", "capacitor://localhost", "ionic://localhost"]
CORS_ALLOWED_ORIGINS += os.environ.get("ALLOWED_ORIGINS", "").split()
CORS_ALLOW_HEADERS = ["authorization", "content-type", "content-digest", "idempotency-key", "x-idempotency-token"]
CORS_EXPOSE_HEADERS = ["Retry-After", "Date", "Idempotency-Replayed"]
