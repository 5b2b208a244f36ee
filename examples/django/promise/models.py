"""What is kept. The unique constraints are the promise; everything else only explains what they said. Each begins with
the owner: one account's names mean nothing to another, and the tables can be distributed by it."""

from django.db import models
from django.db.models import Q


class Account(models.Model):
    """The owner of rows. Several people and devices may share one, each with a token of its own."""

    name = models.CharField(max_length=200, unique=True)
    # The newest change number given out; every change of one of this owner's rows takes the next.
    last_change = models.BigIntegerField(default=0)

    is_authenticated = True


class Token(models.Model):
    digest = models.CharField(max_length=64, primary_key=True)  # SHA-256: the token itself is told once
    account = models.ForeignKey(Account, models.CASCADE)


class Operation(models.Model):
    """One key, and what was done under it. Written by the transaction that does it."""

    owner = models.ForeignKey(Account, models.CASCADE)
    key = models.CharField(max_length=255)
    # What was asked, and of which row where the address names one.
    endpoint = models.CharField(max_length=40)
    target = models.CharField(max_length=40, default="")
    fingerprint = models.CharField(max_length=80)
    # The answer's body, for replays.
    answer = models.TextField(default="")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "key"], name="operation_key")]


class Memory(models.Model):
    owner = models.ForeignKey(Account, models.CASCADE)
    client_memory_id = models.UUIDField()
    create = models.ForeignKey(Operation, models.PROTECT)
    title = models.TextField()
    body = models.TextField()
    created_at = models.TextField(null=True)  # what the device said, to the letter
    extra = models.TextField(default="{}")  # the members without a column, as JSON
    revision = models.BigIntegerField(default=1)
    change_number = models.BigIntegerField()
    deleted = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["owner", "client_memory_id"], name="memory_client_id"),
            models.UniqueConstraint(fields=["owner", "change_number"], name="memory_change"),
        ]


class Invoice(models.Model):
    owner = models.ForeignKey(Account, models.CASCADE)
    create = models.ForeignKey(Operation, models.PROTECT)
    terminal_id = models.CharField(max_length=100)
    number = models.CharField(max_length=100)
    total = models.DecimalField(max_digits=19, decimal_places=4)
    currency = models.CharField(max_length=3)

    class Meta:
        constraints = [
            # The second net: the same invoice under another key.
            models.UniqueConstraint(fields=["owner", "terminal_id", "number"], name="invoice_business_key"),
            models.CheckConstraint(condition=Q(currency__regex="^[A-Z]{3}$"), name="invoice_currency"),
        ]
