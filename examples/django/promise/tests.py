"""On a real PostgreSQL, with real threads: python manage.py test"""

import functools
import json
import threading
import uuid

from django.db import close_old_connections, connection, transaction
from django.test import Client, TransactionTestCase

from .auth import add_token
from .memories import create_all, fields
from .models import Account, Invoice, Memory, Operation
from .operations import rerun


class Promise(TransactionTestCase):
    def setUp(self):
        self.aki, self.haru = add_token("aki"), add_token("haru")

    def send(self, method, path, body="", key=None, token=None):
        headers = {"Authorization": f"Bearer {token or self.aki}"}
        if key is not None:
            headers["Idempotency-Key"] = key
        data = body if isinstance(body, str) else json.dumps(body)
        return Client().generic(method, f"/api/{path}", data, "application/json", headers=headers)

    def create(self, key, body, **options):
        return self.send("POST", "invoices/", body, key, **options)

    def sync(self, *items):
        response = self.send("POST", "memories/sync", {"items": list(items)})
        self.assertEqual(response.status_code, 200, response.content)
        return json.loads(response.content)["results"]

    def at_once(self, count, work):
        """Runs it on so many threads at the same moment."""
        barrier, results = threading.Barrier(count), [None] * count

        def run(n):
            try:
                barrier.wait()
                results[n] = work(n)
            finally:
                connection.close()

        threads = [threading.Thread(target=run, args=(n,)) for n in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return results

    def refused(self, response, status, code):
        self.assertEqual(response.status_code, status, response.content)
        self.assertEqual(response["Content-Type"], "application/problem+json")
        problem = json.loads(response.content)
        self.assertEqual(problem["code"], code)
        return problem


def invoice(number="1", **more):
    return {"terminal_id": "till", "number": number, "total": "12.50", "currency": "JPY", **more}


def item(id=None, title="a", **more):
    return {"clientMemoryId": id or str(uuid.uuid4()), "title": title, "body": "b", **more}


class Single(Promise):
    def test_fifty_at_once_are_one_row(self):
        responses = self.at_once(50, lambda n: self.create("key", invoice()))
        self.assertLessEqual({response.status_code for response in responses}, {200, 201, 409})
        told = {json.loads(response.content)["id"] for response in responses if response.status_code < 300}
        self.assertEqual((len(told), Invoice.objects.count(), Operation.objects.count()), (1, 1, 1))

    def test_first_replay_and_what_is_neither(self):
        first, replay = self.create("key", invoice()), self.create('"key"', invoice())
        self.assertEqual((first.status_code, replay.status_code, first.content), (201, 200, replay.content))
        self.assertEqual(replay["Idempotency-Replayed"], "true")
        self.refused(self.create("key", invoice(total="12.51")), 422, "key_mismatch")
        self.refused(self.create("key", invoice(more=1)), 422, "key_mismatch")
        self.refused(self.send("POST", "memories/", item(), "key"), 400, "key_invalid")
        self.assertEqual(self.create("key", invoice(), token=self.haru).status_code, 201, "another owner's own key")
        self.assertEqual(self.create("key", invoice(), token=add_token("aki")).status_code, 200, "a refreshed token")
        self.assertEqual(Invoice.objects.count(), 2)

    def test_the_key_of_a_memory_is_no_key_of_an_invoice(self):
        id = str(uuid.uuid4())
        self.assertEqual(self.send("POST", "memories/", item(id), id.upper()).status_code, 201)
        self.refused(self.create(id, invoice()), 422, "key_reused")
        self.assertEqual(self.create("key", invoice()).status_code, 201)

    def test_the_constraint_of_the_business_is_told_apart(self):
        self.create("one", invoice())
        problem = self.refused(self.create("two", invoice()), 409, "unique_violation")
        self.assertEqual(problem["constraint"], "invoice_business_key")
        self.assertEqual(self.create("two", invoice("2")).status_code, 201, "the key was released")

    def test_invalid_content_releases_the_key(self):
        for bad in (invoice(currency="yen"), invoice(total="x"), {}, invoice(number="\0")):
            self.assertEqual(self.create("key", bad).status_code, 400)
        self.assertEqual(Operation.objects.count(), 0)
        self.assertEqual(self.create("key", invoice()).status_code, 201)

    def test_without_a_key_and_without_credentials(self):
        for key in (None, "", '""', '"a', "a, b", "a\0b", "x" * 256, "が".encode().decode("latin-1")):
            self.assertEqual(self.create(key, invoice()).status_code, 400, key)
        self.create("key", invoice())
        response = self.create("key", invoice(), token="dead")
        self.refused(response, 401, "not_authenticated")
        self.assertEqual(response["WWW-Authenticate"], "Bearer")

    def test_a_request_waits_for_the_first_with_its_key_and_takes_over_if_that_is_rolled_back(self):
        begun, over = threading.Event(), threading.Event()

        def first_and_second(n):
            if n == 1:
                begun.wait()
                threading.Timer(0.3, over.set).start()
                return self.create("key", invoice())
            with transaction.atomic():
                owner = Account.objects.get(name="aki")
                Operation.objects.create(owner=owner, key="key", endpoint="invoices.create", fingerprint="")
                begun.set()
                over.wait()
                transaction.set_rollback(True)

        self.assertEqual(self.at_once(2, first_and_second)[1].status_code, 201)

    def test_a_kept_connection_that_died_costs_nothing(self):
        kept, died = threading.Event(), threading.Event()

        def first_and_replay(_):
            statuses = [self.create("key", invoice()).status_code]
            kept.set()
            died.wait()
            close_old_connections()  # As the server does before each request.
            return [*statuses, self.create("key", invoice()).status_code]

        def kill(_):
            kept.wait()
            with connection.cursor() as cursor:
                others = "datname = current_database() AND pid <> pg_backend_pid() AND state = 'idle'"
                cursor.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}")
            died.set()

        connection.close()
        self.assertEqual(self.at_once(2, lambda n: [first_and_replay, kill][n](n))[0], [201, 200])

    def test_pages_of_a_webview_may_call_and_read_refusals_too(self):
        for origin in ("https://localhost", "capacitor://localhost", "ionic://localhost"):
            asked = {"Origin": origin, "Access-Control-Request-Method": "POST"}
            allowed = Client().options("/api/invoices/", headers=asked)["Access-Control-Allow-Headers"]
            self.assertLessEqual({"authorization", "content-type", "idempotency-key"}, set(allowed.split(", ")))
            refused = Client().post("/api/invoices/", headers={"Origin": origin})
            self.assertEqual((refused.status_code, refused["Access-Control-Allow-Origin"]), (401, origin))
            self.assertIn("Retry-After", refused["Access-Control-Expose-Headers"])


class Batch(Promise):
    def test_each_item_has_its_own_result(self):
        known, both = item(), str(uuid.uuid4())
        (first,) = self.sync(known)
        bad = item(title="\0")
        results = self.sync(item(), known, bad, {**known, "title": "other"}, item(both), item(both.upper()), 7)
        statuses = [result["status"] for result in results]
        self.assertEqual(
            statuses, ["created", "duplicated", "rejected", "conflict", "created", "duplicated", "rejected"]
        )
        self.assertEqual(results[1]["memory_id"], first["memory_id"])
        self.assertEqual(results[2]["error"]["field"], "title")
        self.assertEqual(results[4]["memory_id"], results[5]["memory_id"])
        self.assertEqual(Memory.objects.count(), 3)

    def test_a_member_given_twice_costs_no_other_item(self):
        id = str(uuid.uuid4())
        for twice in ('"title": "a", "title": "b"', '"title": "a", "more": [{"x": 1, "x": 2}]'):
            body = f'{{"items": [{{"clientMemoryId": "{id}", {twice}, "body": ""}}, {json.dumps(item())}]}}'
            results = json.loads(self.send("POST", "memories/sync", body).content)["results"]
            self.assertEqual([result["status"] for result in results], ["rejected", "created"])
            self.assertEqual(results[0]["clientMemoryId"], id)

    def test_batches_that_cross_neither_lock_up_nor_double(self):
        items = [item() for _ in range(20)]
        told = self.at_once(8, lambda n: self.sync(*(items if n % 2 else reversed(items))))
        ids = [{result["clientMemoryId"]: result["memory_id"] for result in results} for results in told]
        self.assertTrue(all(some == ids[0] for some in ids))
        self.assertEqual(Memory.objects.count(), 20)

    def test_a_batch_and_single_creates_of_one_id_share_their_row(self):
        for _ in range(10):
            one = item()
            single = functools.partial(self.send, "POST", "memories/", one, one["clientMemoryId"])
            self.at_once(2, lambda n: self.sync(one) if n else single())
        self.assertEqual(Memory.objects.count(), 10)

    def test_too_much_is_413_and_tells_the_limits(self):
        many = self.send("POST", "memories/sync", {"items": [item() for _ in range(101)]})
        long = self.send("POST", "memories/sync", {"items": [item("x" * (1 << 20))]})
        for response in (many, long):
            self.assertEqual(self.refused(response, 413, "too_large")["limits"]["maxItems"], 100)
        self.assertEqual((Memory.objects.count(), self.sync()), (0, []))

    def test_a_listing_beside_a_slow_transaction_misses_nothing(self):
        begun, over, page = threading.Event(), threading.Event(), "memories?after="

        def slow_and_quick(n):
            if n == 1:
                begun.wait()
                threading.Timer(0.3, over.set).start()
                return self.sync(item(title="quick"))
            slow = fields(item(title="slow"))
            with transaction.atomic():
                create_all(Account.objects.get(name="aki"), {slow["client_memory_id"]: slow})
                begun.set()
                while not over.wait(0.05):
                    seen.append(json.loads(self.at_once(1, lambda _: self.send("GET", page))[0].content))

        seen = []
        self.at_once(2, slow_and_quick)
        # Nobody was told a number beyond one that was still to come.
        self.assertEqual({tuple(page["records"]) for page in seen}, {()})
        later = json.loads(self.send("GET", page + seen[-1]["next"]).content)["records"]
        self.assertEqual([record["title"] for record in later], ["slow", "quick"])

    def test_the_listing_edits_and_tombstones(self):
        one = item(title="before")
        id = self.sync(one)[0]["memory_id"]
        edit = '{"title": "after", "body": "b", "baseRevision": 1, "more": {"exact": 1.50}}'
        for status in (200, 200):
            self.assertEqual(self.send("PUT", f"memories/{id}", edit, "edit").status_code, status)
        problem = self.refused(self.send("PUT", f"memories/{id}", edit, "edit-2"), 409, "revision_conflict")
        self.assertEqual(problem["current"]["title"], "after")
        self.assertIn(b'"exact":1.50', self.send("GET", f"memories/{id}").content)
        self.assertIn(b'"exact":1.50', self.send("PUT", f"memories/{id}", edit, "edit-3").content)
        self.refused(self.send("PUT", f"memories/{id}", {"title": "a", "body": "b"}, "edit-4"), 400, "invalid_item")
        for status in (204, 204):
            self.assertEqual(self.send("DELETE", f"memories/{id}", "", "delete").status_code, status)
        self.assertEqual(self.sync(one)[0], {"clientMemoryId": one["clientMemoryId"], "memory_id": id,
                                             "status": "duplicated", "revision": 3, "deleted": True})
        page = json.loads(self.send("GET", "memories?after=0").content)
        self.assertEqual([record.get("deleted") for record in page["records"]], [True])
        kept = "".join(Operation.objects.values_list("answer", flat=True))
        self.assertFalse("before" in kept or "after" in kept, kept)
        absent, foreign = (self.send("GET", f"memories/{id}", token=self.haru) for id in (id, 10**9))
        self.assertEqual((absent.status_code, absent.content), (404, foreign.content))
        for odd in (f"0{id}", "٤٢", "%00", "x", "9" * 19, "9" * 60, "-1"):
            for method, body in (("GET", ""), ("PUT", edit), ("DELETE", "")):
                response = self.send(method, f"memories/{odd}", body, f"{method}-{odd}" if odd.isascii() else "odd")
                self.assertEqual((response.status_code, response.content), (404, foreign.content), odd)


class Sacrificed(TransactionTestCase):
    def test_a_deadlocks_victim_is_run_again_whole(self):
        accounts = [Account.objects.create(name=name).pk for name in ("a", "b")]
        barrier, runs = threading.Barrier(2), []

        @rerun
        def lock(first, second):
            runs.append(1)
            with transaction.atomic():
                Account.objects.filter(pk=first).update(last_change=1)
                if len(runs) <= 2:
                    barrier.wait()
                Account.objects.filter(pk=second).update(last_change=1)

        def run(*order):
            try:
                lock(*order)
            finally:
                connection.close()

        threads = [threading.Thread(target=run, args=order) for order in (accounts, accounts[::-1])]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(runs), 3)
        self.assertEqual(set(Account.objects.values_list("last_change", flat=True)), {1})
