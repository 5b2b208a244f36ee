"""One operation under one key: what every create, edit and delete does alike."""

import functools
import random
import re
import time
import uuid

from django.db import IntegrityError, OperationalError, transaction
from django.http import HttpResponse

from .exact_json import Number
from .models import Account, Operation
from .problems import Problem

BARE = re.compile(r"[!#-+\--:<-\[\]-~]+\Z")
QUOTED = re.compile(r'"((?:[ !#-\[\]-~]|\\["\\])*)"\Z')


def read_key(request) -> str:
    """The operation's key. Never cut short, and nothing is ever done without one."""
    given = [request.headers[name] for name in ("Idempotency-Key", "X-Idempotency-Token") if name in request.headers]
    if not given or given in ([""], ['""']):
        raise Problem(400, "key_missing", "This needs the operation's own key in Idempotency-Key. Nothing was done.")
    value, quoted = given[0].strip(), QUOTED.match(given[0].strip())
    key = re.sub(r"\\(.)", r"\1", quoted[1]) if quoted else value
    if len(given) > 1 or not (quoted or BARE.match(value)) or not 0 < len(key) <= 255:
        raise Problem(400, "key_invalid", "The key is malformed, or there are two. Nothing was done.")
    return str(as_uuid(key) or key)


def as_uuid(key: str):
    """A UUID is one key in any case."""
    return uuid.UUID(key) if re.fullmatch(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", key) else None


def perform(owner, key, endpoint, fingerprint, do, target="", done=201):
    """Does it once, whatever comes how often. `do(operation)` makes the rows and gives the answer's body; it runs in
    one transaction with the key."""
    # Looked up before anything is validated: a late retry of what was accepted must not be refused by today's rules.
    # This decides nothing; the constraint does.
    known = Operation.objects.filter(owner=owner, key=key).first()
    if known is None:
        try:
            return answer(do_once(owner, key, endpoint, fingerprint, do, target), done)
        except IntegrityError as error:
            # Told apart by its constraint: this one says that the key was taken meanwhile. The transaction is rolled
            # back, so what the other one wrote can be read now.
            if constraint(error) != "operation_key":
                raise
        known = Operation.objects.get(owner=owner, key=key)
    return replay(known, endpoint, fingerprint, target, done)


def replay(known, endpoint, fingerprint, target, done):
    if (known.endpoint, known.target) != (endpoint, target):
        raise Problem(422, "key_reused", "This key was used for another operation. Nothing was changed.")
    if known.fingerprint != fingerprint:
        raise Problem(422, "key_mismatch", "This key was used with other content. Nothing was changed.")
    response = answer(known.answer, 204 if done == 204 else 200)
    response["Idempotency-Replayed"] = "true"
    return response


def rerun(work):
    """Runs a transaction again, whole, if the database sacrificed it to end a deadlock or a serialization conflict."""

    @functools.wraps(work)
    def again(*args, **kwargs):
        for left in range(8, -1, -1):
            try:
                return work(*args, **kwargs)
            except OperationalError as error:
                state = getattr(error.__cause__, "sqlstate", None)
                if state in ("55P03", "57014"):  # The wait for another transaction was too long.
                    raise Problem(409, "in_progress", "The first request still runs. Send it again.", 1) from error
                if state not in ("40P01", "40001") or not left:
                    raise
                time.sleep(random.uniform(0, 0.05))

    return again


@rerun
def do_once(owner, key, endpoint, fingerprint, do, target):
    with transaction.atomic():
        operation = Operation.objects.create(
            owner=owner, key=key, endpoint=endpoint, target=target, fingerprint=fingerprint
        )
        operation.answer = do(operation)
        operation.save(update_fields=["answer"])
        return operation.answer


def next_changes(owner, count):
    """The owner's next change numbers, and the owner's lock until the transaction ends: the last thing it waits for, so
    that a reader who goes on from a number misses nothing. `no_key`: the rows' foreign keys hold another lock."""
    account = Account.objects.select_for_update(no_key=True).get(pk=owner.pk)
    first = account.last_change + 1
    account.last_change += count
    account.save(update_fields=["last_change"])
    return range(first, first + count)


def constraint(error):
    """Which constraint refused."""
    return getattr(getattr(error.__cause__, "diag", None), "constraint_name", None)


def answer(body: str, status=200):
    return HttpResponse(body, status=status, content_type="application/json")


def number(value) -> Number:
    """An id or a count as a JSON number, however large."""
    return Number(str(value))
