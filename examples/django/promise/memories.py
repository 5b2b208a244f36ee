"""Memories: in batches and one by one, listed, edited, deleted."""

from django.db import IntegrityError, transaction
from rest_framework.views import APIView

from . import exact_json
from .exact_json import Number, Twice, fingerprint, text, write
from .models import Memory, Operation
from .operations import answer, as_uuid, constraint, next_changes, number, perform, read_key, rerun
from .problems import Problem, invalid
from .request import body_of, limits, page, too_large, whole

CREATE = "memories.create"
COLUMNS = ("clientMemoryId", "title", "body", "createdAt")
ABOUT_THE_EDIT = ("baseRevision", "revision", "memory_id")


class SyncView(APIView):
    """POST /api/memories/sync: many creates, one result for each, none paying for another."""

    def post(self, request):
        value = exact_json.parse(body_of(request))
        items = value.get("items") if isinstance(value, dict) else None
        if not isinstance(items, list):
            raise Problem(400, "invalid_request", 'The body must be an object with an array "items".', field="items")
        if len(items) > limits()["maxItems"]:
            raise too_large(f"A batch takes {limits()['maxItems']} items, this one has {len(items)}")
        checked = [check(item) for item in items]
        # Of one id given twice the first is the create.
        creates = {}
        for item in checked:
            if not isinstance(item, Problem):
                creates.setdefault(item["client_memory_id"], item)
        stored = create_all(request.user, creates) if creates else {}
        results = [result(given, item, stored, creates) for given, item in zip(items, checked)]
        return answer(write({"results": results}))


def check(item):
    try:
        return fields(item)
    except Problem as problem:
        return problem


@rerun
def create_all(owner, creates):
    """Stores what is new and finds what is not: {id: (memory or None, created now)}."""
    ids = sorted(creates)  # Every batch takes keys in one order, so two that cross do not wait for each other.
    with transaction.atomic():
        known = {operation.key for operation in Operation.objects.filter(owner=owner, key__in=ids)}
        operations = []
        for key in ids:
            if key in known:
                continue
            try:
                with transaction.atomic():  # A savepoint: on PostgreSQL a refused insert spoils the whole transaction.
                    operations.append(
                        Operation.objects.create(
                            owner=owner, key=key, endpoint=CREATE, fingerprint=creates[key]["fingerprint"]
                        )
                    )
            except IntegrityError as error:
                if constraint(error) != "operation_key":
                    raise
        numbers = next_changes(owner, len(operations)) if operations else []
        created = [
            Memory(owner=owner, create=operation, change_number=change, **columns(creates[operation.key]))
            for operation, change in zip(operations, numbers)
        ]
        Memory.objects.bulk_create(created)
        for memory in created:
            memory.create.answer = write(record(memory))
        Operation.objects.bulk_update([memory.create for memory in created], ["answer"])
        new = {memory.client_memory_id for memory in created}
        rows = Memory.objects.select_related("create").filter(owner=owner, client_memory_id__in=ids)
        found = {str(memory.client_memory_id): (memory, memory.client_memory_id in new) for memory in rows}
    # A key without a memory is the key of something else.
    return {key: found.get(key, (None, False)) for key in ids}


def result(given, item, stored, creates):
    if isinstance(item, Problem):
        id = given.get("clientMemoryId") if isinstance(given, dict) else None
        return rejected(readable(id), item)
    key = item["client_memory_id"]
    memory, created = stored[key]
    if memory is None:
        return rejected(key, Problem(422, "key_reused", "This id is the key of another operation."))
    if created and creates[key] is item:
        status = "created"
    else:
        # Compared with the original create, not with today's text: a late retry after an edit is honest.
        status = "duplicated" if memory.create.fingerprint == item["fingerprint"] else "conflict"
    deleted = {"deleted": True} if memory.deleted else {}
    return {
        "clientMemoryId": key,
        "memory_id": number(memory.pk),
        "status": status,
        "revision": number(memory.revision),
        **deleted,
    }


def rejected(id, problem):
    error = {name: problem.body[name] for name in ("code", "detail", "field") if name in problem.body}
    return {"clientMemoryId": id, "status": "rejected", "error": error}


def readable(id):
    """What an item gave as its id, if it can be written at all."""
    try:
        write(id)
        return id
    except Problem:
        return None


class MemoriesView(APIView):
    def post(self, request):
        """One create, under the key that is its id too: the same row as in a batch."""
        key = read_key(request)
        if as_uuid(key) is None:
            raise Problem(400, "key_invalid", "The key of a memory's create is its clientMemoryId, a UUID.")
        value = exact_json.parse(body_of(request))
        if isinstance(value, dict):
            value.setdefault("clientMemoryId", key)

        def create(operation):
            item = fields(value)
            if item["client_memory_id"] != key:
                raise Problem(422, "key_mismatch", "The key is the clientMemoryId, and the body gives another one.")
            (change,) = next_changes(request.user, 1)
            memory = Memory.objects.create(
                owner=request.user, create=operation, change_number=change, **columns(item)
            )
            return write(record(memory))

        return perform(request.user, key, CREATE, fingerprint(normal(value)), create)

    def get(self, request):
        after, limit = page(request)
        changed = Memory.objects.filter(owner=request.user, change_number__gt=after).order_by("change_number")
        memories = list(changed[: limit + 1])
        shown = memories[:limit]
        last = str(shown[-1].change_number if shown else after)
        records = [record(memory) for memory in shown]
        return answer(write({"records": records, "next": last, "hasMore": len(memories) > limit}))


class MemoryView(APIView):
    def get(self, request, id):
        return answer(write(record(mine(request.user, id))))

    def put(self, request, id):
        known_form(id)
        key, value = read_key(request), exact_json.parse(body_of(request))

        def edit(operation):
            item = fields({"clientMemoryId": key_of_nobody, **value} if isinstance(value, dict) else value, edit=True)
            if not isinstance(value.get("baseRevision"), Number):
                raise invalid("baseRevision must be the number of the revision that was edited.", "baseRevision")
            memory = mine(request.user, id, lock=True)
            if value["baseRevision"] != str(memory.revision):
                detail = "It was changed elsewhere since the revision that was edited. Nothing was changed."
                raise Problem(409, "revision_conflict", detail, current=record(memory))
            if memory.deleted:
                raise Problem(410, "gone", "It was deleted before. Nothing was changed.")
            memory.title, memory.body, memory.extra = item["title"], item["body"], item["extra"]
            memory.created_at = item["created_at"] or memory.created_at
            memory.revision += 1
            (memory.change_number,) = next_changes(request.user, 1)
            memory.save()
            return write(record(memory))

        return perform(request.user, key, "memories.edit", fingerprint(value), edit, target=id, done=200)

    def delete(self, request, id):
        known_form(id)

        def delete(operation):
            memory = mine(request.user, id, lock=True)
            if memory.deleted:
                raise Problem(410, "gone", "It was deleted before. Nothing was changed.")
            # A tombstone: the words go, from kept answers too; the names stay, and a late retry brings nothing back.
            memory.title, memory.body, memory.created_at, memory.extra = "", "", None, "{}"
            memory.deleted, memory.revision = True, memory.revision + 1
            (memory.change_number,) = next_changes(request.user, 1)
            memory.save()
            kept = write(record(memory))
            Operation.objects.filter(owner=request.user, endpoint="memories.edit", target=id).update(answer=kept)
            Operation.objects.filter(pk=memory.create_id).update(answer=kept)
            return ""

        return perform(request.user, read_key(request), "memories.delete", "", delete, target=id, done=204)


def mine(owner, id, lock=False):
    """A memory of this owner. Another owner's is as absent as one that never was."""
    memories = Memory.objects.select_for_update(no_key=True) if lock else Memory.objects
    memory = memories.filter(owner=owner, pk=known_form(id)).first()
    if memory is None:
        raise absent()
    return memory


def known_form(id):
    """An address has one form, since an operation is kept with it."""
    number = whole(id)
    if number is None:
        raise absent()
    return number


def absent():
    return Problem(404, "not_found", "There is nothing at this address.")


key_of_nobody = "00000000-0000-0000-0000-000000000000"


def fields(value, edit=False):
    """A memory as it was sent: checked, and taken apart into columns."""
    if not isinstance(value, dict) or isinstance(value, Twice):
        raise invalid("A memory must be an object, each of its members given once.")
    value = normal(value)
    for name in ("clientMemoryId", "title", "body", *(["createdAt"] if "createdAt" in value else [])):
        if type(value.get(name)) is not str:
            raise invalid(f"{name} must be a string.", name)
        try:
            text(value[name])
        except Problem as problem:
            raise invalid(problem.body["detail"].removesuffix(" Nothing was stored."), name) from None
    if as_uuid(value["clientMemoryId"]) is None:
        raise invalid("clientMemoryId must be a UUID with hyphens.", "clientMemoryId")
    apart = COLUMNS + ABOUT_THE_EDIT if edit else COLUMNS
    return {
        "client_memory_id": value["clientMemoryId"],
        "title": value["title"],
        "body": value["body"],
        "created_at": value.get("createdAt"),
        "extra": write({name: member for name, member in value.items() if name not in apart}),
        "fingerprint": fingerprint(value),
    }


def columns(item):
    stored = {name: item[name] for name in ("title", "body", "created_at", "extra")}
    return {"client_memory_id": as_uuid(item["client_memory_id"]), **stored}


def normal(value):
    """One id in two cases is one operation."""
    id = value.get("clientMemoryId") if isinstance(value, dict) else None
    known = as_uuid(id) if type(id) is str else None
    return {**value, "clientMemoryId": str(known)} if known else value


def record(memory):
    names = {
        "memory_id": number(memory.pk),
        "clientMemoryId": str(memory.client_memory_id),
        "revision": number(memory.revision),
    }
    if memory.deleted:
        return {**names, "deleted": True}
    created_at = {} if memory.created_at is None else {"createdAt": memory.created_at}
    extra = {} if memory.extra == "{}" else {"extra": exact_json.parse(memory.extra.encode())}
    return {**names, "title": memory.title, "body": memory.body, **created_at, **extra}
