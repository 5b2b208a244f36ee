from django.http import JsonResponse
from django.urls import path, re_path

from .invoices import InvoicesView
from .memories import MemoriesView, MemoryView, SyncView
from .request import limits

urlpatterns = [
    path("memories/sync", SyncView.as_view()),
    re_path(r"^memories/?$", MemoriesView.as_view()),
    path("memories/<str:id>", MemoryView.as_view()),
    re_path(r"^invoices/?$", InvoicesView.as_view()),
    path("capabilities", lambda request: JsonResponse(limits())),
]
