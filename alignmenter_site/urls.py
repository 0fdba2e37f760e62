from typing import Any

from django.apps import apps
from django.contrib import admin
from django.contrib.auth import views as accounts
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import include, path, reverse_lazy

from alignmenter_site import login
from datasets_app.auditing.permission_events import attribute_to_user
from datasets_app.downloads import download_job_file, download_release

admin.autodiscover()
# The queue's own pages show what the queue remembers, which is not what ran: the job pages do.
admin.site.unregister(apps.get_model("django_rq", "Dashboard"))

handler500 = "alignmenter_site.error_pages.server_error"


def reject_view_on_site(request: HttpRequest, **_: Any) -> HttpResponse:
    """The framework would look for the page of any row on a site beside the admin; there is none."""
    raise Http404


urlpatterns = [
    path("", login.home, name="home"),
    path("login/", login.SignInView.as_view(), name="login"),
    path("logout/", accounts.LogoutView.as_view(next_page=reverse_lazy("login")), name="logout"),
    path(
        "password/",
        attribute_to_user(accounts.PasswordChangeView.as_view(template_name="password_change.html")),
        name="password_change",
    ),
    path(
        "password/done/",
        accounts.PasswordChangeDoneView.as_view(template_name="password_change_done.html"),
        name="password_change_done",
    ),
    path("annotate/", include("annotations_app.urls")),
    path("admin/login/", login.redirect_to_sign_in),
    path("admin/r/<int:content_type_id>/<path:object_id>/", reject_view_on_site),
    path("admin/", admin.site.urls),
    path("files/<int:pk>/", download_job_file, name="download"),
    path("files/releases/<int:pk>/", download_release, name="download_release"),
]
