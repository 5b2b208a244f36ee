"""Gives most well-formed requests a key of their own, and sends some creates again.

Left alone, schemathesis uses its few examples again and again: nearly every request comes under a key that was used for
something else, is refused for that, and what becomes of a new operation, or of its replay, is hardly seen. Every fourth
request keeps the key that it was made with.
"""

import copy
import itertools
import random
import uuid

import schemathesis

drawn = random.Random(20261201)
count = itertools.count(1)
last = {}


@schemathesis.hook
def before_call(context, case, kwargs):
    headers = case.headers or {}
    if "Idempotency-Key" not in headers or case.meta is None or not case.meta.generation.mode.is_positive:
        return
    turn = next(count) % 4
    if turn == 0:
        return
    if turn == 2 and case.method == "POST" and case.path in last:
        key, body = last[case.path]
        headers["Idempotency-Key"], case.body = key, copy.deepcopy(body)
        return
    key = str(uuid.UUID(int=drawn.getrandbits(128), version=4))
    headers["Idempotency-Key"] = key
    if case.method == "POST" and isinstance(case.body, dict):
        if "clientMemoryId" in case.body:
            case.body["clientMemoryId"] = key
        last[case.path] = key, copy.deepcopy(case.body)
