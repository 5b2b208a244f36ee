"""POST /api/invoices/: a create endpoint like any other. Another one is a model, a serializer and this view."""

from django.db import IntegrityError
from rest_framework import serializers
from rest_framework.views import APIView

from . import exact_json
from .exact_json import fingerprint, write
from .models import Invoice
from .operations import answer, constraint, number, perform, read_key
from .problems import Problem, invalid
from .request import body_of, page


class InvoiceSerializer(serializers.ModelSerializer):
    class Meta:
        model = Invoice
        fields = ["terminal_id", "number", "total", "currency"]
        # The automatic unique validators look before the insert: a race, and a replay would be answered with 400.
        validators = []

    def validate_currency(self, value):
        if not (len(value) == 3 and value.isascii() and value.isupper() and value.isalpha()):
            raise serializers.ValidationError("must be three capital letters such as JPY")
        return value


class InvoicesView(APIView):
    def post(self, request):
        key, body = read_key(request), body_of(request)
        value = exact_json.parse(body)

        def create(operation):
            serializer = InvoiceSerializer(data=value)
            if not serializer.is_valid():
                field, errors = next(iter(serializer.errors.items()))
                raise invalid(f"{field}: {errors[0]}", field)
            try:
                invoice = serializer.save(owner=request.user, create=operation)
            except IntegrityError as error:
                if constraint(error) != "invoice_business_key":
                    raise
                detail = "Another invoice has the same terminal_id and number. Nothing was stored."
                raise Problem(409, "unique_violation", detail, constraint="invoice_business_key") from error
            return write(record(invoice))

        return perform(request.user, key, "invoices.create", fingerprint(value), create)

    def get(self, request):
        # By id. One that was begun earlier and stored later can come in before it; a device that follows a list needs
        # change numbers, as memories have them.
        after, limit = page(request)
        invoices = list(Invoice.objects.filter(owner=request.user, pk__gt=after).order_by("pk")[: limit + 1])
        shown = invoices[:limit]
        more = len(invoices) > limit
        last = str(shown[-1].pk if shown else after)
        return answer(write({"records": [record(invoice) for invoice in shown], "next": last, "hasMore": more}))


def record(invoice):
    return {
        "id": number(invoice.pk),
        "terminal_id": invoice.terminal_id,
        "number": invoice.number,
        # Just made it has the text it came with, read back it has the column's zeros.
        "total": format(invoice.total.normalize(), "f"),
        "currency": invoice.currency,
    }
