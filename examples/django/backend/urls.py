from django.urls import include, path

urlpatterns = [path("api/", include("promise.urls"))]
handler404 = "promise.problems.not_found"
handler500 = "promise.problems.server_error"
